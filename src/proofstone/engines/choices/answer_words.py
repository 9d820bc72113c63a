"""How languages other than English and Chinese state which option is right.

A language is a row: the words that announce an answer, what may stand between such a word and the
letter, and how a sentence says that a letter is right. English and Chinese, of which there is more
to know, are in ``marks``. Every pattern is bounded or possessive.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from proofstone.engines.choices.letters import (
    ANY_LETTER,
    CLAUSE_END,
    CLOSING,
    NOT_IN_WORD,
    OPENING,
    UPPER_LETTER,
)

__all__ = ["ANSWER_WORDS", "AnswerWords", "words_of"]

_SIGNS = r"[:：=→>—–-]"
_LETTER = rf"{OPENING}{{0,4}}(?-i:{UPPER_LETTER})(?![A-Za-z0-9])"


class AnswerWords(Struct, frozen=True):
    """One language, or several whose words do not collide.

    ``anchors`` are in lower case; ``ending`` is what inflection may add to one. ``states`` makes a
    statement of what stands between anchor and letter, ``between`` may stand there too.
    ``is_right`` behind a letter says that it is the answer, ``denies`` that it is not. ``further``
    leads from the anchor through the sentence up to a letter, ``before`` from a letter to the
    anchor: with its group ``right``, or with ``and_right`` behind the anchor. ``answers`` are the
    anchors that mean an answer and not an option, and ``opens`` what may lead up to one that has
    its letter right behind it. ``nothing`` says that no option fits. ``chooses`` are the anchors
    that make a choice by themselves: "I choose", "the right one is".
    """

    anchors: tuple[str, ...]
    ending: re.Pattern[str]
    forward: re.Pattern[str]
    states: re.Pattern[str]
    is_right: re.Pattern[str]
    denies: re.Pattern[str]
    further: re.Pattern[str]
    before: re.Pattern[str]
    and_right: re.Pattern[str]
    nothing: re.Pattern[str]
    answers: tuple[str, ...]
    opens: re.Pattern[str]
    chooses: frozenset[str]


def _words(
    anchors: str, *, ending: str, states: str, between: str, is_right: str, denies: str,
    further: str, before: str, and_right: str, nothing: str, answers: str, opens: str, chooses: str,
) -> AnswerWords:  # fmt: skip
    states = rf"(?:{_SIGNS}|{states})"
    chosen = [words.replace("_", " ") for words in chooses.split()]
    return AnswerWords(
        anchors=(*anchors.split(), *chosen),
        chooses=frozenset(chosen),
        ending=re.compile(ending, re.IGNORECASE),
        forward=re.compile(
            rf"(?:{OPENING}|{states}|{between}|[,،、】」』]){{0,20}}+"
            rf"(?P<letter>{ANY_LETTER}){NOT_IN_WORD}",
            re.IGNORECASE,
        ),
        states=re.compile(states, re.IGNORECASE),
        is_right=re.compile(rf"{CLOSING}{{0,4}}(?:{is_right})", re.IGNORECASE),
        denies=re.compile(rf"{CLOSING}{{0,4}}(?:{denies})", re.IGNORECASE),
        further=re.compile(
            rf"{further}{OPENING}{{0,4}}(?P<letter>(?-i:{UPPER_LETTER}))"
            rf"(?:{CLAUSE_END}|(?=[ \t]?(?:です|である|입니다|이다|번)))",
            re.IGNORECASE,
        ),
        before=re.compile(
            rf"(?<![A-Za-z0-9])(?<![A-Z][、,・とやか와과])(?<![A-Z][와과,、]\s)(?<!または)(?<!もし)(?<!또는\s)"
            rf"(?P<letter>(?-i:{UPPER_LETTER})){CLOSING}{{0,4}}(?:{before})$",
            re.IGNORECASE,
        ),
        and_right=re.compile(and_right, re.IGNORECASE),
        answers=tuple(answers.split()),
        opens=re.compile(
            rf"(?:^|[\n.:：*#>。—–]|\b(?:{opens})\b)[\s,،、*#_`]{{0,4}}$", re.IGNORECASE
        ),
        nothing=re.compile(rf"(?:{OPENING}|{states}){{0,6}}+(?:{nothing})", re.IGNORECASE),
    )


_SENTENCE = r"(?:[^.!?\n]|[.!?](?=\S)){1,120}?"  # on within the sentence
_ARTICLE = rf"(?:[ao](?=\s(?:letra|alternativa|op[cç][aã]o)\b|\s{_LETTER}))"  # Portuguese a, o
_RIGHT_LATIN = (
    r"correct[oa]|correcte?|exact[ea]|juste|bonne|adecuad[oa]|richtige?|korrekte?|corret[oa]|"
    r"cert[oa]|exat[oa]|adequad[oa]"
)

# Spanish, French, German and Portuguese.
_LATIN = _words(
    "respuesta réponse reponse antwort resposta opción opcion opção alternativa option choix "
    "lösung gabarito correcta correta richtig korrekt zutreffend lettre letra proposition",
    ending=r"(?:en|s)?(?![a-zà-öø-ÿ])",
    states=r"(?:(?:es|sería|será|est|serait|ist|wäre|lautet|sind|sont|son|são|é|seria|está|"
    r"sei|soit|sea|seja|corresponde|correspond)\b|c['’]est\b)",
    between=rf"(?:(?:in(?:correct[oa]|correcte|corret[oa])|fals[oa]|fausse|falsche|la|el|los?|las|les?|die|der|das|den|{_RIGHT_LATIN}|más|mais|plus|probable|"
    r"provável|opción|opção|option|letra|lettre|buchstabe|alternativa|respuesta|réponse|antwort|"
    r"resposta|choix|final[ea]?|endgültige|siguiente|seguinte|suivante|donc|also|daher|somit|"
    r"portanto|entonces|então|pues|por|tanto|lo|deber?ía|debe|deve|doit|ser|être|sein|möglichkeit|"
    rf"apropiada|apropriada|appropriée|au|à)\b|l['’]|{_ARTICLE})",
    is_right=r"(?:\s?(?:es|est|ist|é|está|wäre|sería|serait|seria)\s(?:la\s|le\s|die\s|[ao]\s)?"
    rf"(?:única\s|seule\s|einzig\s)?(?:opción\s|opção\s|option\s)?|\s)(?:{_RIGHT_LATIN})\b|"
    r"\s(?:qui convient|que conviene|que corresponde)\b",
    denies=r"(?:no|n['’]est|nicht|não|ist nicht|est pas)\b",
    further=r",? ?(?:que|die|welche|del?|al?|para|à|au|qui|pour|auf|zur?|für|da|do|dos|das)\b"
    rf"{_SENTENCE}\b(?:es|est|ist|lautet|é)\s(?:la\s|le\s|die\s|[ao]\s|l['’])?"
    r"(?:opción\s|opção\s|option\s|letra\s|lettre\s|alternativa\s|antwort\s)?",
    before=r"\s(?:die\s|"
    r"(?:es|est|ist|é|sería|serait|wäre|seria)\s(?:la\s|le\s|die\s|[ao]\s|l['’])?)"
    rf"(?P<right>(?:única|seule|mejor|melhor|meilleure|beste|{_RIGHT_LATIN})\s)?",
    and_right=rf"s?\s(?:{_RIGHT_LATIN})\b",
    nothing=r"no (?:está|figura|aparece|se encuentra)|ningun[ao]|ne figure|"
    r"n['’]est pas (?:dans|parmi)|aucune|keine|"
    r"(?:steht|ist) nicht (?:dabei|aufgeführt|in|unter|zur)|"
    r"não (?:está|consta|aparece|figura)|nenhuma",
    answers="respuesta réponse reponse antwort resposta lösung gabarito",
    opens=r"la|die|ist|also|somit|daher|donc|portanto|entonces|então|final|bonne|mi|minha|ma|"
    rf"meine|{_RIGHT_LATIN}",
    chooses="quedo_con elijo escojo selecciono opto_por decanto_por je_choisis j'opte_pour "
    "j’opte_pour je_retiens je_sélectionne entscheide_mich_für ich_wähle ich_nehme tippe_auf "
    "fico_com escolho marque assinale opto_pela vou_de inclino_por encaja_es faut_cocher "
    "faut_donc_cocher richtige_wahl_ist es_muss",
)
_RUSSIAN = _words(
    "ответ вариант верным правильным",
    ending=r"[а-яё]{0,3}",
    states=r"(?:это|является|будет|под)\b",
    between=r"(?:правильн|верн|итогов|окончательн|единственн)[а-яё]{1,4}\b|"
    r"(?:вариант|буква|буквой|ответ)[а-яё]{0,3}\b|"
    r"номер(?:ом)?\b",
    is_right=r"[—–-]?\s?(?:является\s|это\s)?(?:правильн|верн)[а-яё]{1,4}\b",
    denies=r"не\b",
    further=rf"\s(?:на|в|по|к|для)\b{_SENTENCE}\s?(?:[—–:-]|это|является|будет)\s"
    r"(?:вариант\s|буква\s)?",
    before=r"\s?[—–-]?\s?(?:это\s|является\s|будет\s)?"
    r"(?:единственн[а-яё]{1,4}\s)?(?:правильн|верн)[а-яё]{1,4}\s",
    and_right=r"",
    nothing=r"нет\b|отсутствует|ни один|не\s(?:указан|представлен|приведён)",
    answers="ответ",
    opens=r"следовательно|значит|итак|поэтому|таким образом|мой|"
    r"(?:правильн|верн|итогов)[а-яё]{1,4}",
    chooses="выбираю выберу остановлюсь_на верно_утверждение подходит_вариант",
)
_JAPANESE = _words(
    "答え 正解 解答 回答 選択肢 選びます 選択します",
    ending=r"(?:番号|記号)?",
    states=r"は|が|として",
    between=r"(?:最も|適切な|正しい|選択肢|記号|答え|番|の)",
    is_right=r"が(?:最も)?(?:正しい|正解|適切|答え|当てはまる)",
    denies=r"(?:では|じゃ|で)(?:ありません|あり|な[いく])",
    further=r"(?:として|に|で)[^。\n]{1,60}?(?:のは|は)",
    before=r"(?:番)?(?:が(?:最も)?(?:適切な|正しい)?|を)",
    and_right=r"(?:です|で|だ|と|。|$)",
    nothing=r"(?:[はが]|の中に|に)*+(?:ありません|ない|存在しません|該当なし|なし)",
    answers="答え 正解 解答 回答",
    opens=r"最終|よって|従って|したがって",
    chooses="適切なのは 正しいのは 適当なのは 当てはまるのは",
)
_KOREAN = _words(
    "답 선택지 보기 고르겠 고릅 선택하겠 선택합 택하겠 맞습니다",
    ending=r"(?:변|안)?",
    states=r"(?:은|는|이|가)(?=[\s(*\"'‘“]|[A-Z])",
    between=r"(?:올바른|정확한|맞는|가장|적절한|선택지|보기|옵션|정?답|번|바로)(?:은|는)?",
    is_right=r"번?\s?[이가]\s?(?:정답|맞|옳|올바|적절)",
    denies=r"번?[이가은]?\s?아(?:니|닙)",
    further=r"(?:으로|로|에|중)\s[^.\n]{1,60}?[은는]\s",
    before=r"(?:번)?(?:[이가]\s(?:올바른\s|정확한\s|맞는\s|가장\s|적절한\s){0,2}정?|[을를]\s)",
    and_right=r"(?:입니다|이다|이에요|임|이므로|습니다|니다|\.|$)",
    nothing=r"(?:[이은는가]|으로|중에|에)?\s?(?:선택지|보기)?(?:에|중에)?(?:는)?\s?없",
    answers="답",
    opens=r"따라서|그러므로|최종|정",
    chooses="적절한_것은 올바른_것은 옳은_것은 맞는_것은 알맞은_것은",
)
_ARABIC = _words(
    "إجاب اجاب جواب خيار",
    ending=r"(?:ات|[ةهت])?",
    states=r"(?:هي|هو)\b",
    between=r"(?:الصحيحة?|الأصحة?|النهائية?|الأنسب|الخيار|الحرف|حرف|الإجابة|الجواب)\b|[\u200e\u200f]",
    is_right=r"(?:هو|هي)\s(?:الخيار\s|الإجابة\s)?(?:الصحيح|الأصح|الأنسب)",
    denies=r"(?:ليس|غير)",
    further=rf"\s{_SENTENCE}\b(?:هي|هو)\s",
    before=r"\s(?:هي|هو)\s(?:ال)?",
    and_right=r"[ةهت]?\s(?:الصحيح|الأصح|الأنسب|النهائي)",
    nothing=r"(?:ليست?|غير)\s(?:بين|موجود|من|ضمن)",
    answers="إجاب اجاب جواب",
    opens=r"ال|إذن|إذًا|لذلك",
    chooses="أختار اختار",
)
ANSWER_WORDS = (_LATIN, _RUSSIAN, _JAPANESE, _KOREAN, _ARABIC)


@lru_cache(maxsize=1)
def _by_anchor() -> dict[str, AnswerWords]:
    return {anchor: words for words in ANSWER_WORDS for anchor in words.anchors}


def words_of(anchor: str) -> AnswerWords | None:
    """The language of an anchor; None for those of English and Chinese alone."""
    return _by_anchor().get(anchor)
