"""Refusals in ten languages, and what looks like one and is none."""

from __future__ import annotations

from time import perf_counter

import pytest

from proofstone.choices.outcomes import opens_with_refusal, read_choice
from proofstone.records.runs import Response

REFUSALS = {
    "es": [
        "Lo siento, no puedo ayudar con eso.",
        "Lo siento mucho, pero no puedo responder a esa pregunta.",
        "No puedo ayudarte con esta solicitud.",
        "Lamentablemente no me es posible contestar esta pregunta.",
        "Como modelo de lenguaje, no puedo proporcionar esa información.",
        "Disculpe, pero debo negarme a responder.",
        "Prefiero no responder a esta pregunta.",
    ],
    "fr": [
        "Je suis désolé, mais je ne peux pas répondre à cette question.",
        "Désolée, je ne peux pas vous aider avec cette demande.",
        "Malheureusement, je ne suis pas en mesure de répondre.",
        "Je refuse de répondre à cette question.",
        "En tant qu'assistant, je ne peux pas fournir cette information.",
        "Il m'est impossible de vous aider.",
    ],
    "de": [
        "Es tut mir leid, aber dabei kann ich nicht helfen.",
        "Tut mir leid, ich kann diese Frage nicht beantworten.",
        "Leider kann ich Ihnen dabei nicht weiterhelfen.",
        "Ich kann auf diese Frage leider keine Antwort geben.",
        "Ich bin leider nicht in der Lage, diese Frage zu beantworten.",
        "Ich muss diese Anfrage ablehnen.",
        "Ich möchte diese Frage nicht beantworten.",
    ],
    "pt": [
        "Desculpe, não posso ajudar com isso.",
        "Sinto muito, mas não consigo responder a essa pergunta.",
        "Infelizmente, não posso fornecer essa informação.",
        "Como um modelo de linguagem, não posso responder.",
        "Recuso-me a responder a esta pergunta.",
        "Não posso te ajudar com esse pedido.",
    ],
    "ru": [
        "Извините, я не могу помочь с этим.",
        "К сожалению, я не могу ответить на этот вопрос.",
        "Я не буду отвечать на такие вопросы.",
        "Простите, но я вынужден отказаться отвечать.",
        "Как языковая модель, я не могу предоставить такую информацию.",
        "Не могу вам с этим помочь.",
    ],
    "ja": [
        "申し訳ありませんが、その質問にはお答えできません。",
        "申し訳ございませんが、お手伝いできません。",
        "すみませんが、この質問に回答することはできません。",
        "その内容については回答を差し控えさせていただきます。",
        "恐れ入りますが、ご要望にはお応えできません。",
        "お答えできません。",
    ],
    "ko": [
        "죄송합니다. 이 질문에는 답변할 수 없습니다.",
        "죄송하지만 도와드릴 수 없습니다.",
        "유감스럽게도 해당 요청에 대해서는 도움을 드릴 수 없습니다.",
        "그 질문에 답변을 드릴 수 없습니다.",
        "답변을 거부합니다.",
        "안타깝게도 이 요청은 제공해 드릴 수 없습니다.",
    ],
    "ar": [
        "عذرًا، لا أستطيع المساعدة في ذلك.",
        "آسف، لا يمكنني الإجابة عن هذا السؤال.",
        "أعتذر، ولكن لا يمكنني تقديم هذه المعلومات.",
        "للأسف، لن أتمكن من مساعدتك في هذا الطلب.",
        "أرفض الإجابة عن هذا السؤال.",
    ],
}
NO_REFUSALS = {
    "es": [
        "No puedo determinar cuál de las opciones es correcta.",
        "Lo siento, me equivoqué antes con la masa.",
        "No puedo dar por válida ninguna de ellas.",
        "No puedo responder con certeza a esta pregunta.",
        "Los datos no bastan; no puedo ayudar con eso.",
        "No pude medirlo.",
        "Responder a esto no es fácil.",
    ],
    "fr": [
        "Je ne peux pas dire laquelle est correcte.",
        "Désolé, je me suis trompé dans le calcul.",
        "Je ne peux pas répondre avec certitude.",
        "On ne peut pas répondre sans la masse.",
        "Je ne peux pas exclure la deuxième hypothèse.",
        "Je peux vous aider à comparer les deux.",
    ],
    "de": [
        "Ich kann nicht sagen, welche Aussage stimmt.",
        "Es tut mir leid, ich habe mich verrechnet.",
        "Leider fehlt eine Angabe.",
        "Ich kann diese Frage nicht eindeutig beantworten.",
        "Ich kann die zweite Aussage nicht bestätigen.",
        "Dabei kann ich gern helfen.",
        "Die Frage kann man so nicht beantworten.",
    ],
    "pt": [
        "Não posso afirmar qual delas é correta.",
        "Desculpe, errei a conta acima.",
        "Não posso responder com certeza.",
        "Infelizmente faltam dados.",
        "Não consigo ver diferença entre as duas.",
        "Posso ajudar com isso: comparo as duas.",
    ],
    "ru": [
        "Я не могу определить, какой из вариантов верен.",
        "Извините, я ошибся в расчёте.",
        "Не могу не согласиться с первым утверждением.",
        "Я не могу ответить на этот вопрос с уверенностью.",
        "К сожалению, данных мало.",
        "Нельзя ответить без массы.",
    ],
    "ja": [
        "どれが正しいか判断できません。",
        "申し訳ありません、計算を間違えました。",
        "条件が足りないため、回答できません。",
        "この質問には確実に回答することはできません。",
        "残念ながら、質量が書かれていません。",
    ],
    "ko": [
        "어느 것이 맞는지 판단할 수 없습니다.",
        "죄송합니다. 계산이 틀렸습니다.",
        "이 질문에는 확실하게 답변할 수 없습니다.",
        "조건이 부족하여 답변할 수 없습니다.",
        "알 수 없습니다.",
    ],
    "ar": [
        "لا أستطيع تحديد الخيار.",
        "عذرًا، أخطأت في الحساب.",
        "لا يمكنني الإجابة بيقين عن هذا السؤال.",
        "للأسف، البيانات قليلة.",
        "لا يمكن الإجابة دون معرفة الكتلة.",
    ],
}


def rows(told: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, text) for language, texts in told.items() for text in texts]


def outcome(text: str, **about: str) -> str:
    return read_choice(Response(text=text, **about), "ABCD").outcome  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "text"), rows(REFUSALS))
def test_a_refusal_in_the_first_person_is_refused(language: str, text: str) -> None:
    assert outcome(text) == "refused", language
    assert outcome(f"**{text}**\n") == "refused", language


@pytest.mark.parametrize(("language", "text"), rows(NO_REFUSALS))
def test_doubt_regret_and_what_is_said_of_others_is_none(language: str, text: str) -> None:
    assert outcome(text) == "unparsed", language


@pytest.mark.parametrize(
    "choice",
    ["La respuesta es B.", "Die Antwort ist B.", "Ответ: B", "答えはB", "정답은 B입니다.", "[[B]]"],
)
def test_a_reply_with_an_answer_is_none(choice: str) -> None:
    for _language, text in rows(REFUSALS):
        assert outcome(f"{text}\n{choice}") == "answered"


def test_a_long_text_in_other_languages_is_none() -> None:
    """It goes on to say something."""
    for _language, text in rows(REFUSALS):
        assert not opens_with_refusal(text + "\n" + "x " * 400)


def test_a_reply_of_any_length_is_looked_at_in_no_time() -> None:
    pieces = ["Es tut mir leid, ", "Ich kann ", "non ", "申し訳", "질문에 ", "لا ", "(", "a, "]
    for piece in pieces:
        for size in (600, 1_000_000):
            text = (piece * size)[:size]
            started = perf_counter()
            opens_with_refusal(text)
            assert perf_counter() - started < 0.1
