"""Declare BeQu: its parts, each with the module that implements it."""

from __future__ import annotations

from proofstone.method import Method, PayloadType, Verifying, later, read_presets
from proofstone.methods.bequ import ask, bank, entities, score
from proofstone.methods.bequ.entities import ElicitedTriple, Entity, KnownTriple
from proofstone.methods.bequ.records import TripleFileAsked, VerifySettings

_HERE = "proofstone.methods.bequ"

METHOD = Method(
    name="bequ",
    title="BeQu: open elicitation of triples",
    scorer_version=score.SCORER_VERSION,
    items_called="entities",
    facts_called="triples",
    payloads={
        "bequ.entity": PayloadType(Entity, called="entities"),
        "bequ.triple": PayloadType(ElicitedTriple),
        "bequ.known": PayloadType(KnownTriple),
        "bequ.reference": PayloadType(bank.ReferenceFact),
    },
    pipelines=later(f"{_HERE}.entity_lists:PIPELINES"),
    recognises_facts=bank.recognises_knowledge,
    read_facts=bank.read_facts,
    write_fact=bank.write_fact,
    parameters=bank.PARAMETERS,
    recipe=bank.recipe,
    compose=bank.compose,
    recognises=entities.recognises,
    read_items=entities.read_entities,
    write_item=entities.write_entity,
    show=later(f"{_HERE}.views:show_entity"),
    item_statistics=later(f"{_HERE}.views:entity_statistics"),
    bank_run="",
    prompt_methods=ask.PROMPT_METHODS,
    ranges=later(lambda: tuple(ask.ranges())),
    presets=later(lambda: read_presets(_HERE, shared="all")),
    settings=ask.settings,
    prepare=ask.prepare,
    ask=ask.ask,
    query=entities.query,
    prompts=ask.PROMPTS,
    units=score.units,
    score=score.score,
    answer_key=score.answer_key,
    measures=score.MEASURES,
    headline=score.HEADLINE,
    analyses={
        "random": (
            "models by F1 of their triples, compared with the first model on the same entities"
        ),
        "effort": "triples by reasoning effort, with tokens and cost",
        "domains": "triples by domain, and triples about non-existent entities",
        "prompts": "triples by prompt template, compared with direct",
        "ranges": "triples by the number requested, compared with the default range",
        "popularity": "triples by third of popularity, and the trend over statement counts",
    },
    make_analysis=later(f"{_HERE}.experiments.groups:make_analysis"),
    verifying=Verifying(
        called="triple",
        settings=VerifySettings,
        verify=later(f"{_HERE}.verification.runs:verify_runs"),
        forecast=later(f"{_HERE}.verification.runs:verify_forecast"),
        check_judged=later(f"{_HERE}.verification.runs:check_judged"),
        has_reference=bank.has_knowledge,
        reference_columns=(
            "entity with predicate and object, with text, or with lists of triples "
            "(triples_wiki, triples_web, triples)"
        ),
        listed_in=bank.triples_in,
        is_listed=bank.is_triple,
        show_response=later(f"{_HERE}.views:show_response"),
        verdicts_shown=later(f"{_HERE}.verification.stored_verdicts:verified_of_response"),
        counts_shown=later(f"{_HERE}.verification.stored_verdicts:verified_counts"),
        settings_shown=later(f"{_HERE}.verification.stored_verdicts:settings_shown"),
        statistics=later(f"{_HERE}.views:triples_by_run"),
        said_rows=later(f"{_HERE}.views:export_triples"),
        verdict_rows=later(f"{_HERE}.verification.stored_verdicts:export_verdicts"),
        ranked=later(f"{_HERE}.verification.stored_verdicts:ranked_settings"),
        board=later(f"{_HERE}.report.board:verified_board"),
        show_board=later(f"{_HERE}.cli:show_verified"),
        show_analysis=later(f"{_HERE}.cli:show_analysis"),
        recognizes_file=bank.has_triples,
        file_options=TripleFileAsked,
        grade_file=later(f"{_HERE}.cli:grade_triples"),
        write_page=later(f"{_HERE}.report.page:write_verified_page"),
        compare=later(f"{_HERE}.report.board:compare_triples"),
    ),
)
