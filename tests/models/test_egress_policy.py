"""Policies as people write them: what each entry admits, whose word counts, every mistake named."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.errors import BadInput, EgressRefused
from proofstone.models.config import load_config
from proofstone.models.egress import EgressGate, EgressPolicy, SourceRule, read_policy
from proofstone.models.names import Destination, destination_of

OPENAI = Destination("api.openai.com", 443)
MANUAL = "Manual 2024"


def listing(*hosts: str) -> EgressGate:
    policy, problems = read_policy("proofstone.toml", {"hosts": list(hosts)})
    assert not problems
    return EgressGate([policy])


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://localhost:8000/v1", True),
        ("http://LOCALHOST./v1", True),
        ("http://models.localhost/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://127.8.9.1/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://[::ffff:127.0.0.1]/v1", True),
        ("http://127.0.0.1.example.com/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://192.168.0.7/v1", False),
        ("http://0.0.0.0/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_what_this_machine_is(url: str, is_local: bool) -> None:
    found = destination_of(url)
    assert found is not None
    assert found.is_local == is_local


def test_a_destination_shows_its_port_only_where_it_is_unusual() -> None:
    shown = [
        str(destination_of(url))
        for url in ("https://A.org.", "https://a.org:8443", "http://[fd00::1]:7")
    ]
    assert shown == ["a.org", "a.org:8443", "[fd00::1]:7"]
    assert destination_of("gguf:0123456789abcdef") is None


@pytest.mark.parametrize(
    ("entry", "url", "admits"),
    [
        ("api.openai.com", "https://api.openai.com/v1", True),
        ("API.OpenAI.com", "https://api.openai.com./v1", True),
        ("openai.com", "https://api.openai.com/v1", False),
        ("*.openai.com", "https://api.openai.com/v1", True),
        ("*.openai.com", "https://a.b.openai.com/v1", True),
        ("*.openai.com", "https://openai.com/v1", False),
        ("*.openai.com", "https://evilopenai.com/v1", False),
        ("*", "https://anything.example/v1", True),
        ("local", "https://api.openai.com/v1", False),
        ("llm.corp:8443", "https://llm.corp:8443/v1", True),
        ("llm.corp:8443", "https://llm.corp/v1", False),
        ("llm.corp", "https://llm.corp:8443/v1", True),
        ("10.1.0.0/16", "http://10.1.2.3:8000/v1", True),
        ("10.1.0.0/16", "http://10.2.2.3:8000/v1", False),
        ("10.1.0.0/16", "http://10.1.evil.example/v1", False),
        ("10.1.2.3", "http://10.1.2.3:8000/v1", True),
        ("10.1.2.3/16", "http://10.1.9.9:8000/v1", True),
        ("[fd00::1]:8000", "http://[fd00::1]:8000/v1", True),
        ("[fd00::1]:8000", "http://[fd00::2]:8000/v1", False),
        ("fd00::/8", "http://[fd00::2]:8000/v1", True),
        ("bücher.example", "https://xn--bcher-kva.example/v1", True),
    ],
)
def test_what_an_entry_of_hosts_admits(entry: str, url: str, admits: bool) -> None:
    to = destination_of(url)
    assert to is not None
    assert listing(entry).of_host(to) == ("allowed" if admits else "refused")
    assert listing(entry).of_source(MANUAL, to) == ("allowed" if admits else "refused")


@pytest.mark.parametrize("hosts", [[], ["local"]])
def test_local_only_lets_nothing_out_and_keeps_this_machine_usable(hosts: list[str]) -> None:
    gate = listing(*hosts)
    gate.permit(OPENAI)  # a person's word does not outweigh the policy
    with pytest.raises(EgressRefused) as caught:
        gate.check(OPENAI)
    assert str(caught.value) == (
        "nothing may be sent to api.openai.com: [egress] of proofstone.toml does not list it\n"
        '  add "api.openai.com" to its hosts, if that is allowed'
    )
    gate.check(Destination("localhost", 8000))


def test_without_a_policy_a_host_waits_for_a_persons_word() -> None:
    gate = EgressGate()
    with pytest.raises(EgressRefused, match="not allowed yet") as caught:
        gate.check(OPENAI)
    assert '[egress] hosts = ["api.openai.com"]' in caught.value.hint
    gate.permit(OPENAI)
    gate.check(OPENAI)
    with pytest.raises(EgressRefused):
        gate.check(Destination("api.openai.com", 8443))  # another port is another server


def test_a_sources_own_hosts_stand_in_place_of_the_general_ones() -> None:
    rules = (SourceRule("Manual *", ("llm.corp",)), SourceRule("Manual 2024", ("*.corp", "local")))
    gate = EgressGate([EgressPolicy("p.toml", ("api.openai.com",), rules)])
    corp, mail = Destination("llm.corp", 443), Destination("mail.corp", 443)
    assert gate.of_source("Handbook", OPENAI) == "allowed"
    assert gate.of_source(MANUAL, OPENAI) == "refused"
    assert gate.of_source(MANUAL, corp) == "allowed"
    assert gate.of_source(MANUAL, mail) == "refused"  # every rule that fits must admit it
    assert gate.of_source("Handbook", corp) == "refused"
    assert gate.of_source(MANUAL, Destination("127.0.0.1", 80)) == "allowed"
    assert gate.of_host(corp) == "allowed"  # something may go there
    with pytest.raises(EgressRefused) as caught:
        gate.check_source(MANUAL, OPENAI)
    assert str(caught.value) == (
        "'Manual 2024' may not be sent to api.openai.com: [egress.sources.\"Manual *\"] of p.toml "
        'does not list it\n  add "api.openai.com" to hosts of [egress.sources."Manual *"] there, '
        "use a model at another host, or leave this source out"
    )


def test_every_file_must_agree_and_one_permission_is_enough() -> None:
    """A workspace that came from somebody else cannot widen what the user's own file allows."""
    mine, theirs = (
        EgressPolicy("mine", ("a.org", "b.org")),
        EgressPolicy("theirs", ("b.org", "c.org")),
    )
    silent = EgressPolicy("silent", None, (SourceRule(MANUAL, ("local",)),))
    gate = EgressGate([mine, theirs, silent])
    said = {host: gate.of_host(Destination(host, 443)) for host in ("a.org", "b.org", "c.org")}
    assert said == {"a.org": "refused", "b.org": "allowed", "c.org": "refused"}
    assert gate.of_source("Handbook", Destination("b.org", 443)) == "allowed"
    assert gate.of_source(MANUAL, Destination("b.org", 443)) == "refused"


def test_a_rule_for_one_source_leaves_the_others_to_be_asked_about() -> None:
    gate = EgressGate([EgressPolicy("p", None, (SourceRule(MANUAL, ("local",)),))])
    assert gate.of_host(OPENAI) == "ask"
    assert gate.of_source("Handbook", OPENAI) == "ask"
    assert gate.of_source(MANUAL, OPENAI) == "refused"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("egress = 3", "expected a table"),
        ("[egress]\nhost = []", "unknown key 'host'; did you mean 'hosts'?"),
        ('[egress]\nhosts = "local"', "expected a list of texts"),
        ('[egress]\nhosts = ["https://api.openai.com/v1"]', "invalid host"),
        ('[egress]\nhosts = ["10.*"]', "invalid host"),
        ('[egress]\nhosts = ["a.*.org"]', "invalid host"),
        ('[egress]\nhosts = ["a b"]', "invalid host"),
        ('[egress]\nhosts = ["host:port"]', "invalid host"),
        ('[egress]\nhosts = ["a:b:80"]', "invalid host"),
        ('[egress]\nhosts = [""]', "invalid host"),
        ('[egress]\nsources = ["Manual"]', "sources are tables"),
        ('[egress.sources."Manual 2024"]', 'expected hosts = ["local"]'),
        ('[egress.sources.M]\nhosts = ["local"]\nnot = 1', "unknown key 'not'"),
        ("[egress.sources.M]\nhosts = [1]", "expected a list of texts"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "proofstone.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_config(tmp_path, environ={}, user_folder=tmp_path / "user")
    assert says in str(caught.value)
    assert "[egress" in str(caught.value)
    assert "proofstone.toml" in str(caught.value)


def test_the_users_file_and_the_workspaces_are_both_read(tmp_path: Path) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / "proofstone.toml").write_text('[egress]\nhosts = ["a.org"]\n', encoding="utf-8")
    (tmp_path / "proofstone.toml").write_text('[egress]\nhosts = ["*"]\n', encoding="utf-8")
    gate = load_config(tmp_path, environ={}, user_folder=user).gate
    assert gate.of_host(Destination("a.org", 443)) == "allowed"
    assert gate.of_host(OPENAI) == "refused"
