"""Whether a reply refuses to answer, in the ten languages that answers are read in.

A refusal opens the reply, in the first person; one in mid-text is part of the reasoning, and so is
doubt ("I cannot tell which"). In languages other than English and Chinese, of which there is more
to know, only a short reply counts, and one that is not sure is no refusal. Every pattern is bounded
or possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import msgspec
import orjson
from msgspec import Struct

from proofstone.choices.extraction import UNPARSED, Extraction, extract_choice, extract_choices
from proofstone.choices.options import is_label, labels
from proofstone.choices.verdicts import VerdictList, extract_verdict, extract_verdicts
from proofstone.errors import BadInput, Problem
from proofstone.records.builds import StepCall
from proofstone.records.calls import Message
from proofstone.records.runs import Finish, Reply
from proofstone.records.tables import Row

# A model's reply as the JSON object that was asked for, asked again where it is none.

S = TypeVar("S", bound=Struct)


_FENCE = re.compile(r"```[A-Za-z]*\s*\n(.*?)\n\s*```", re.DOTALL)


async def ask_for(
    call: StepCall,
    name: str,
    messages: Sequence[Message],
    wanted: type[S],
    schema: Mapping[str, Any],
    *,
    reasks: int = 1,
) -> S | str:
    """The reply as ``wanted``; else, after ``reasks`` more tries, the last reply's text."""
    text = ""
    for reask in range(reasks + 1):
        reply = await call(name, messages, schema=schema, reask=reask)
        text = reply.text
        found = None if reply.thinking_unclosed else object_of(text)
        if found is not None:
            try:
                return msgspec.convert(found, wanted)
            except msgspec.ValidationError:
                continue
    return text


def object_of(text: str) -> dict[str, Any] | None:
    """The one JSON object of a reply: alone, in a code fence, or with prose around it; None where
    there is none, or what stands between the outermost braces is not JSON."""
    fenced = _FENCE.search(text)
    body = fenced[1] if fenced else text
    first, last = body.find("{"), body.rfind("}")
    if first < 0 or last < first:
        return None
    try:
        value = orjson.loads(body[first : last + 1])
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


_LONGEST = 600  # characters of a refusal, but for English and Chinese


_OPENING = r"[\s*_#>\"'“«「]{0,12}+"


_SORRY = (
    r"(?:(?:i['’]?m|i am|we are) (?:really |very |so |truly )?(?:sorry|afraid)\b|sorry\b|"
    r"i apologi[sz]e\b|my apologies\b|unfortunately\b)[,.:;]?\s{0,4}(?:but\s|that\s)?"
)


_CANNOT = (
    r"(?:(?: |['’]m | am )(?:really |just |simply )?(?:cannot|can['’]?t|can not|"
    r"could not|couldn['’]?t|won['’]?t|will not|unable to|not able to|"
    r"(?:must |have to )?(?:decline|refuse) to|not comfortable))"
)


_ENGLISH = re.compile(
    rf"[\s*_#>\"'“]{{0,12}}+(?:{_SORRY})?"
    r"(?:as an? (?:ai|language model|assistant)\b[^.,\n]{0,60},\s)?"
    rf"(?:i|we){_CANNOT}\s"
    r"(?:answer|help|assist|comply|provide|fulfil+|respond|discuss|engage|participate|continue|"
    r"generate|share|support|offer|complete|give|do (?:that|this))(?:ing)?\b",
    re.IGNORECASE,
)


_CHINESE = re.compile(
    r"[\s*_#>“]{0,12}+"
    r"(?:(?:非常|很|十分|真的)?(?:抱歉|对不起|不好意思|遗憾)[，,。！! ]{0,3})?(?:但是?)?"
    r"(?:作为[^，,。\n]{0,20}[，,])?(?:我|本模型|本助手)?(?:现在|目前|暂时)?"
    r"(?:无法|不能|没办法|没有办法|不便|不会|拒绝|不予)"
    r"(?:为您|为你|向您|向你|对此|直接|就此)?"
    r"(?:回答|提供|协助|帮助|满足|完成|讨论|给出|处理|继续|回应|作答|解答)"
)


def _refusal(sorry: str, role: str, refuses: str) -> re.Pattern[str]:
    """What may say that one is sorry, then as what one speaks, then that one does not answer."""
    sorry, role = rf"(?:(?:{sorry})[,،、，.。:;!！]?\s{{0,4}})?", rf"(?:{role}[^.,\n]{{0,60}},\s)?"
    return re.compile(rf"{_OPENING}{sorry}{role}(?:{refuses})", re.IGNORECASE)


_SPANISH = _refusal(
    r"(?:lo siento|lo lamento|lamento decir|disculp[ae]|perd[oó]n|lamentablemente|"
    r"desafortunadamente)(?: mucho)?(?:,? pero)?",
    r"como (?:un )?(?:modelo|asistente|ia|inteligencia)",
    r"(?:yo )?(?:no (?:te |le |les |os )?(?:puedo|podr[eé]|voy a|debo)|no (?:me es posible|estoy "
    r"autorizad[oa] (?:a|para)|estoy en condiciones de)|me es imposible|"
    r"(?:debo|tengo que) (?:negarme|rehusarme) a|me niego a|prefiero no) "
    r"(?:(?:ayudar|responder|contestar|asistir|atender)(?:[tl]e|les|os)?|"
    r"(?:proporcionar|facilitar|ofrecer|dar)(?:[tl]e|les|os)? (?:es[aeto]+|tu|su|una?|la) "
    r"(?:respuesta|informaci[oó]n|datos|consejo|ayuda|contenido)s?|hacer eso|"
    r"cumplir (?:con )?(?:es[aeo]|tu|su)|hablar (?:de|sobre) (?:es[aeto]+)|"
    r"participar en es[aeo])\b",
)


_FRENCH = _refusal(
    r"(?:(?:je suis |nous sommes )?(?:vraiment |sincèrement )?(?:désolée?s?|navrée?s?)|"
    r"malheureusement|je regrette|je m['’]excuse|toutes mes excuses|pardon)(?:,? mais)?",
    r"en tant qu(?:e |['’])",
    r"(?:je|nous) (?:(?:ne |n['’])?(?:peux|pourrai|pouvons|vais|souhaite|dois|suis)"
    r"(?: malheureusement)? pas"
    r"(?: en mesure d[e'’]| autorisée? à| capable d[e'’])? ?|refuse (?:de |d['’])|"
    r"dois (?:refuser|décliner) (?:de |d['’]))(?:vous |t['’]|te |y )?"
    r"(?:aider|répondre|assister|fournir (?:de |d['’]|une |cette |la )|donner (?:de )?(?:suite|"
    r"une réponse|la réponse)|traiter (?:cette|votre|ce)|discuter de|participer à|faire cela)\b|"
    r"il m['’]est impossible (?:de |d['’])(?:vous |t['’]|y )?(?:aider|répondre)\b",
)


_TO_WHAT = (
    r"(?: (?:ihnen|dir|euch|dabei|damit|hierbei|hierzu|dazu|darauf|darüber|leider|hier|das|derzeit|"
    r"aber|(?:auf |bei |mit )?(?:diese[rnm]?|die|der|dem|ihre[rnm]?|deine[rnm]?) "
    r"(?:frage|anfrage|bitte|thema|aufgabe)|als [^.,\n]{1,40})){0,4}"
)


_HELPS = (
    r"(?:(?:weiter)?helfen|behilflich sein|beantworten|antworten|nachkommen|eingehen|"
    r"(?:auskunft|antwort|informationen|rat) (?:geben|erteilen|bereitstellen))\b"
)


_GERMAN = _refusal(
    r"(?:(?:es )?tut mir (?:wirklich |sehr )?leid|entschuldigung|entschuldigen sie|entschuldige|"
    r"verzeihung|bedaure|ich bedauere|leider)(?:,? (?:aber|doch))?",
    r"als (?:ki|sprachmodell|assistent)",
    rf"(?:(?:ich (?:kann|darf|werde|möchte)|(?:dabei |damit |darauf |hierbei |diese frage )?"
    rf"(?:kann|darf|werde|möchte) ich){_TO_WHAT} (?:nicht|keine)(?: weiter)? {_HELPS}|"
    rf"ich bin (?:leider )?nicht (?:in der lage|befugt),?{_TO_WHAT} zu (?:helfen|beantworten)\b|"
    r"ich (?:lehne es ab|muss (?:es )?ablehnen), [^.\n]{0,30}\bzu (?:helfen|beantworten)\b|"
    r"ich muss (?:die antwort|das|diese (?:bitte|anfrage)) ablehnen\b)",
)


_PORTUGUESE = _refusal(
    r"(?:(?:me )?desculp[ae](?:-me)?|sinto muito|lamento|peço desculpas?|infelizmente)(?:,? mas)?",
    r"como (?:um )?(?:modelo|assistente|ia|inteligência)",
    r"(?:eu )?(?:não (?:lhe |te |o |a )?(?:posso|consigo|poderei|vou|devo)|não (?:me é possível|"
    r"estou (?:autorizad[oa]|apt[oa]) a|tenho permissão para)|(?:devo|preciso|tenho de) "
    r"(?:me )?recusar(?:-me)?(?: a)?|recuso-me a|me recuso a|prefiro não) "
    r"(?:lhe |te |o |a )?(?:ajud(?:ar|á)|responder|auxiliar|atender|"
    r"fornecer (?:essa|esta|uma?|ess[ae]s|informaç|a resposta|respostas)|dar (?:uma|essa|a) "
    r"resposta|oferecer (?:ajuda|essa)|fazer isso|discutir (?:isso|esse|este|essa)|"
    r"participar d(?:isso|ess[ae]))(?:-l[oa]s?|-te|-lhe)?\b",
)


_RUSSIAN = _refusal(
    r"(?:извините|простите|прошу прощения|к сожалению|(?:очень )?сожалею|мне (?:очень )?жаль|"
    r"увы)(?:, но)?",
    r"как (?:ии|языковая модель|ассистент|искусственный)",
    r"(?:я )?(?:не (?:могу|смогу|буду|стану|имею (?:возможности|права)|в состоянии|вправе)|"
    r"вынужден[а]? отказаться|отказываюсь)"
    r"(?: (?:вам|тебе|с этим|этим|в этом|на этот вопрос|на ваш вопрос|на это|на такие вопросы|"
    r"этот запрос|ваш запрос|эту (?:просьбу|тему)|здесь|сейчас)){0,3} "
    r"(?:помочь|помогать|ответить|отвечать|выполнить|предоставить (?:так|эт|ответ|информац)|"
    r"дать (?:ответ|такой)|обсуждать|содействовать|сделать это)",
)


_JAPANESE = _refusal(
    r"(?:(?:大変|誠に)?申し訳(?:ございません|ありません|ない)(?:です)?|すみません|すいません|"
    r"ごめんなさい|恐れ入ります|恐縮です|残念ながら)(?:が|けど)?",
    r"(?:AI|言語モデル)として",
    r"(?:(?:私は|AIとして|当方では)、?)?(?:(?:その|この|こちらの|そのような|このような|ご){0,2}"
    r"(?:質問|要求|要望|リクエスト|依頼|内容|件|話題|トピック)"
    r"(?:に(?:は|ついては?|関しては?|対しては?)?|は|を)、?)?"
    r"(?:(?:お答え|回答|お手伝い|対応|お応え|協力|ご?案内|(?:情報を)?ご?提供)"
    r"(?:する)?(?:こと)?[はがを]?(?:でき(?:ません|かねます|ない)|(?:いた)?しかねます|"
    r"(?:を)?(?:差し控え|控えさせ|お断り|拒否))|(?:お力になれ|お応えでき|応じられ)ません)",
)


_KOREAN = _refusal(
    r"(?:(?:정말 |대단히 )?(?:죄송|미안)(?:합니다만|하지만|합니다|해요|하게도)|"
    r"유감(?:스럽게도|이지만)|안타깝게도)",
    r"(?:AI|인공지능|언어 모델)로서",
    r"(?:저는 |제가 )?(?:(?:이|그|해당|그런|이런|요청하신|문의하신) ?)?"
    r"(?:(?:질문|요청|내용|주제|부분|것)(?:에는|에 대해(?:서는|서)?|에|은|을)? ?)?"
    r"(?:(?:답변|대답|응답|도움|지원|제공)(?:을|를|은|도)? ?(?:해 ?)?(?:드릴|줄|할|될) ?|"
    r"도와(?: ?드릴| ?줄) ?|답(?:해 드릴|할) ?|응할 ?)수(?:가|는)? ?없(?:습니다|어요|음|네요)|"
    r"(?:저는 )?(?:답변|대답)(?:을|은)? ?(?:거부|거절|사양)(?:합니다|하겠습니다)",
)


_ARABIC = _refusal(
    r"(?:عذر(?:ًا|اً|ا)|المعذرة|(?:أنا )?آسفة?|نأسف|أعتذر|للأسف|مع الأسف)(?: جد(?:ًا|اً|ا))?",
    r"(?:بصفتي|كوني|كنموذج)",
    r"(?:و?لكن(?:ني|ي)? )?(?:أنا )?(?:لا (?:أستطيع|يمكنني|أقدر على|نستطيع|يمكننا)|"
    r"لن (?:أتمكن من|أستطيع|أقدم)|لست قادر(?:ًا|اً|ا|ة) على|أرفض|غير قادر على|يتعذر علي) "
    r"(?:(?:ال)?(?:مساعدة|مساعدتك|إجابة|إجابتك)|أن (?:أجيب|أساعد)|الرد\b|الاستجابة|"
    r"تقديم (?:هذه|إجابة|المساعدة|معلومات|المعلومات)|تلبية|مناقشة|إعطاء إجابة|القيام بذلك)",
)


_OTHERS = (
    _SPANISH, _FRENCH, _GERMAN, _PORTUGUESE, _RUSSIAN, _JAPANESE, _KOREAN, _ARABIC,
)  # fmt: skip


# "I cannot answer with certainty" is doubt.
_UNSURE = re.compile(
    r"con (?:certeza|seguridad)|avec (?:certitude|assurance)|com (?:certeza|segurança)|"
    r"mit (?:sicherheit|gewissheit)|eindeutig|с (?:полной )?уверенностью|однозначно|точно|"
    r"確実|断定|正確に|확실|정확히|단정|بيقين|على وجه اليقين|بشكل قاطع|بدقة",
    re.IGNORECASE,
)


_SENTENCE_END = re.compile(r"[.!?。！？؟\n]")


def opens_with_refusal(text: str) -> bool:
    """Whether ``text`` begins by refusing to answer."""
    opening = text[:400].lstrip()
    if _ENGLISH.match(opening) is not None or _CHINESE.match(opening) is not None:
        return True
    if len(text) > _LONGEST and len(text.strip()) > _LONGEST:
        return False
    for pattern in _OTHERS:
        found = pattern.match(opening)
        if found is not None:
            end = _SENTENCE_END.search(opening, found.end())
            return _UNSURE.search(opening, 0, end.start() if end else len(opening)) is None
    return False


# What a reply amounts to: answered, refused, unparsed or truncated. ``failed`` never comes here.
#
# The one place that decides it, from how the reply ended, what it says and what was extracted.

ReadOutcome: TypeAlias = Literal["answered", "refused", "unparsed", "truncated"]


class Reading(Struct, frozen=True):
    """A reply's outcome with what it rests on. ``flags`` add what the outcome does not say:
    ``truncated`` (an answer was stated before the reply was cut off), ``by endpoint`` (a content
    filter refused, not the model), ``thinking unclosed``, ``several answers``, ``no option``."""

    outcome: ReadOutcome
    extraction: Extraction
    flags: tuple[str, ...] = ()


class VerdictReadings(Struct, frozen=True):
    """The outcome of a reply with several verdicts, and the reading of each statement's. A flag
    ``missing verdicts``: some statements have none."""

    outcome: ReadOutcome
    readings: tuple[Reading, ...]
    flags: tuple[str, ...] = ()


_SEVERAL = ("several answers",)


def read_choice(reply: Reply, letters: str, options: Sequence[str] = ()) -> Reading:
    """The outcome of ``reply`` to a question with these options, and the choice it rests on.

    In this order: a content filter refused; an unclosed ``<think>`` block is truncated and never
    read; a refusal in the endpoint's own field; a choice answers, unless the reply was cut off
    before it was stated in words; cut off; a text that opens with a refusal and chooses nothing;
    unparsed.
    """
    unread = not_read(reply)
    return unread or _decide(reply, extract_choice(reply.text, letters, options))


def read_choices(reply: Reply, letters: str) -> Reading:
    """The same where all right options are asked for: the choice is a set, ``"A, C"``."""
    return not_read(reply) or _decide(reply, extract_choices(reply.text, letters))


def read_verdict(reply: Reply) -> Reading:
    """The same for one statement to be called ``true`` or ``false``."""
    return not_read(reply) or _decide(reply, extract_verdict(reply.text))


def read_verdicts(reply: Reply, n: int) -> VerdictReadings:
    """The same for ``n`` statements to be called true or false, each with an outcome of its own.

    The reply is answered where any statement has a verdict. One without is truncated where the
    reply was cut off, refused where it holds no verdict and opens with a refusal, else unparsed.
    """
    unread = not_read(reply)
    if unread is not None:
        return VerdictReadings(unread.outcome, (unread,) * n, unread.flags)
    found = extract_verdicts(reply.text, n)
    cut_off = reply.finish == "length"
    readings = tuple([_of_place(found, place, cut_off=cut_off) for place in range(n)])
    n_answered = sum(reading.outcome == "answered" for reading in readings)
    if not n_answered and not cut_off and not found.both and opens_with_refusal(reply.text):
        return VerdictReadings("refused", (Reading("refused", UNPARSED),) * n)
    if not n_answered:
        return VerdictReadings("truncated" if cut_off else "unparsed", readings)
    flags = [("truncated", cut_off), ("missing verdicts", n_answered < n)]
    return VerdictReadings("answered", readings, tuple([flag for flag, is_so in flags if is_so]))


def _of_place(found: VerdictList, place: int, *, cut_off: bool) -> Reading:
    said, inferred = found.said[place], place in found.inferred
    if said and not (cut_off and inferred):
        extraction = Extraction(said, "bare" if inferred else "marked", "whole text", True)
        return Reading("answered", extraction, ("truncated",) if cut_off else ())
    if cut_off:
        return Reading("truncated", UNPARSED)
    if place in found.both:
        return Reading("unparsed", Extraction("", "marked", "whole text", False), _SEVERAL)
    return Reading("unparsed", UNPARSED, ("missing verdict",))


def not_read(reply: Reply) -> Reading | None:
    """The outcome of a reply whose text is no answer whatever it says, else None."""
    if reply.finish == "content_filter":
        return Reading("refused", UNPARSED, ("by endpoint",))
    if reply.thinking_unclosed:
        return Reading("truncated", UNPARSED, ("thinking unclosed",))
    if reply.refusal.strip():
        return Reading("refused", UNPARSED)
    return None


def _decide(reply: Reply, found: Extraction) -> Reading:
    """The outcome of a reply that was read."""
    cut_off = reply.finish == "length"
    if found.is_option and not cut_off:
        return Reading("answered", found)
    if found.is_option and found.tier == "marked":
        return Reading("answered", found, ("truncated",))
    if cut_off:
        return Reading("truncated", found)
    if found.letter:
        return Reading("unparsed", found, ("no option",))
    if found.tier:
        return Reading("unparsed", found, _SEVERAL)
    refused = opens_with_refusal(reply.text)
    return Reading("refused" if refused else "unparsed", found)


# The choices of replies in a file: ``response`` and ``options`` in, ``letter`` and tier out.

_READ = frozenset({"response", "options", "refusal", "finish"})


_FINISHES = get_args(Finish)


_MOST_OPTIONS = 26


def extract_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows with what each reply chose, in order.

    ``response`` is the reply's text, with a leading ``<think>`` block or without; ``options`` the
    options' texts, their letters ("ABCD") or their number; ``finish`` (``stop``, ``length``,
    ``content_filter``) and ``refusal`` may say how the reply ended. Out come ``letter``, ``tier``
    and ``outcome`` behind the row's other columns. Raises BadInput with every problem of all rows.
    """
    problems: list[Problem] = []
    extracted: list[dict[str, Any]] = []
    for row in rows:
        found = list(_problems_of(row))
        problems += found
        if not found:
            extracted.append(_extracted(row.values))
    if problems:
        raise BadInput("Replies cannot be read.", problems, hint="See extract --help.")
    return extracted


def _extracted(values: Mapping[str, Any]) -> dict[str, Any]:
    letters, texts = _options_of(values["options"])
    reading = read_choice(_reply(values), letters, texts)
    kept = {name: value for name, value in values.items() if name not in _READ}
    return {
        **kept,
        "letter": reading.extraction.letter,
        "tier": reading.extraction.tier,
        "outcome": reading.outcome,
    }


def _reply(values: Mapping[str, Any]) -> Reply:
    text, unclosed = _without_thinking(values["response"])
    return Reply(
        text=text,
        finish=values.get("finish") or "",
        refusal=values.get("refusal") or "",
        thinking_unclosed=unclosed,
    )


def _without_thinking(text: str) -> tuple[str, bool]:
    """A reply's text behind its ``<think>`` block, and whether the block never ended."""
    _, closed, said = text.rpartition("</think>")
    if closed:
        return said, False
    unclosed = text.lstrip().startswith("<think>")
    return ("" if unclosed else text), unclosed


def _options_of(value: object) -> tuple[str, Sequence[str]]:
    """The letters and texts of a row's options; no letters where they cannot be read."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (labels(value) if 1 <= value <= _MOST_OPTIONS else ""), ()
    if isinstance(value, str):
        known = all(map(is_label, value)) and len(set(value)) == len(value)
        return (value if known else ""), ()
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= _MOST_OPTIONS:
        return "", ()
    if not all(isinstance(text, str) for text in value):
        return "", ()
    letters = labels(len(value))
    return letters, (() if "".join(value) == letters else value)


# ---------------------------------------------------------------- what cannot be read


def _problems_of(row: Row) -> Iterator[Problem]:
    """What of a row cannot be read: what was expected and what came."""
    values = row.values
    if not isinstance(values.get("response"), str):
        yield _problem(row, "response", "text")
    if "options" not in values or not _options_of(values["options"])[0]:
        yield _problem(row, "options", "1 to 26 texts, their number, or letters such as ABCD")
    if (values.get("finish") or "") not in _FINISHES:
        yield _problem(row, "finish", f"one of {', '.join(filter(None, _FINISHES))}")
    if not isinstance(values.get("refusal") or "", str):
        yield _problem(row, "refusal", "text")


def _problem(row: Row, field: str, expected: str) -> Problem:
    came = repr(row.values[field]) if field in row.values else "nothing"
    came = came if len(came) <= 60 else f"{came[:57]}..."
    return Problem(f"{row.place}, field {field}", f"expected {expected}, got {came}")
