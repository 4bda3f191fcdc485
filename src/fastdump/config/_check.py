"""`check` and its relatives: what the vendor's code does with an acl.json, and what surprises."""

from __future__ import annotations

import os
from itertools import islice

from fastdump._words import config_catalogue as say
from fastdump.config._advice import Advice, advise_on_keys, near_name
from fastdump.config._constraints import Constraints
from fastdump.config._document import Document, read_document, read_file
from fastdump.config._findings import ConfigError, Findings, Verdict
from fastdump.config._graph_engine import GraphEngineVerdict, graph_engine_verdict
from fastdump.config._json_text import type_text
from fastdump.config._keys import ROOT
from fastdump.config._model import DumpConfig
from fastdump.config._report import NAME_OF_TEXT, ConfigReport
from fastdump.config._validation import validate
from fastdump.config._wording import quoted

_MAX_NAMES_COMPARED = 100


def check(path: str | os.PathLike[str], *, here: bool = False) -> ConfigReport:
    """Check an acl.json: say what the vendor's current code does with it.

    All problems are reported, not only the first.

    Parameters
    ----------
    path
        The file. It is only read.
    here
        Whether the configuration is for this machine. A local dump_path that this process cannot
        write to is then an error, otherwise a warning.

    Returns
    -------
    ConfigReport
        The findings, the verdict, and the configuration.

    Raises
    ------
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> for finding in fastdump.config.check("acl.json").findings:  # doctest: +SKIP
    ...     print(finding)
    """
    return _check(read_file(path), os.fspath(path), here=here)


def check_text(text: str | bytes, *, here: bool = False) -> ConfigReport:
    """Check the text of an acl.json, as `check` does with a file.

    Parameters
    ----------
    text
        The text, or the bytes of a file.
    here
        As in `check`.

    Returns
    -------
    ConfigReport
        As of `check`.
    """
    # Half of a surrogate pair becomes bytes that are not UTF-8, which the check reports.
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return _check(data, NAME_OF_TEXT, here=here)


def load(path: str | os.PathLike[str]) -> DumpConfig:
    """Return the configuration in an acl.json.

    Parameters
    ----------
    path
        The file. Its dump_path need not exist on this machine.

    Returns
    -------
    DumpConfig
        The configuration; no key is set if the file has no "dump" object.

    Raises
    ------
    ConfigError
        If the vendor's code refuses the file.
    OSError
        If the file cannot be read.
    """
    return _accepted(check(path))


def parse(text: str | bytes) -> DumpConfig:
    """Return the configuration in the text of an acl.json, as `load` does with a file.

    Parameters
    ----------
    text
        The text, or the bytes of a file.

    Returns
    -------
    DumpConfig
        As of `load`.

    Raises
    ------
    ConfigError
        If the vendor's code refuses the text.
    """
    return _accepted(check_text(text))


def _accepted(report: ConfigReport) -> DumpConfig:
    if report.config is None:
        first, *others = report.errors
        more = f" (and {len(others)} more)" if others else ""
        raise ConfigError(f"{report.name!r}: {first}{more}", report.errors)
    return report.config


def _check(data: bytes, name: str, *, here: bool) -> ConfigReport:
    findings = Findings()
    if not data:
        findings.warning("nothing", (), say.FILE_EMPTY())
        return _report(name, Document(), DumpConfig(), findings, GraphEngineVerdict("off"))
    document = read_document(data, findings)
    if document is None:
        return _report(name, Document(), DumpConfig(), findings, None)
    if findings.refused:
        return _report(name, document, DumpConfig(), findings, GraphEngineVerdict("reject"))
    graph_engine = graph_engine_verdict(document.value)
    config = _check_document(document, graph_engine, findings, here=here)
    return _report(name, document, config, findings, graph_engine)


def _check_document(
    document: Document, graph_engine: GraphEngineVerdict, findings: Findings, *, here: bool
) -> DumpConfig:
    outermost = document.value
    if not isinstance(outermost, dict):
        message = say.NOT_AN_OBJECT(found=type_text(outermost))
        findings.warning("nothing", (), message)
        return DumpConfig()
    if "dump" not in outermost:
        # Looking for a near name takes time, and a hostile file may have a million keys.
        names = islice(outermost, _MAX_NAMES_COMPARED)
        near = next((name for name in names if near_name(name, ROOT)), None)
        message = say.NO_DUMP_KEY_BUT(near=quoted(near)) if near else say.NO_DUMP_KEY()
        findings.warning("nothing", (), message)
        return DumpConfig()
    dump = outermost["dump"]
    if not isinstance(dump, dict):
        findings.error(
            "type", ROOT, say.WRONG_TYPE(found=type_text(dump), expected=say.AN_OBJECT())
        )
        return DumpConfig()
    if not dump:
        findings.warning("nothing", ROOT, say.OBJECT_EMPTY())
        findings.warning("older-release", ROOT, say.OLD_RELEASES_REFUSE_EMPTY())
        return DumpConfig()
    config, broken = validate(dump, findings)
    Constraints(config, broken, findings, here).check()
    advise_on_keys(dump, findings)
    if not findings.refused:
        Advice(config, graph_engine, findings).advise()
    return config


def _report(
    name: str,
    document: Document,
    config: DumpConfig,
    findings: Findings,
    graph_engine: GraphEngineVerdict | None,
) -> ConfigReport:
    refused = findings.refused
    for rule in findings.full_rules():
        findings.warning("more", (), say.MORE_OF_RULE(rule=rule))
    # Sorting is stable, so errors stay in the order of the vendor's checks.
    drafts = sorted(findings.drafts, key=lambda draft: draft.finding.severity != "error")
    verdict: Verdict = "reject" if refused else "accept" if config.is_on else "off"
    return ConfigReport(
        findings=document.findings(drafts),
        name=name,
        verdict=verdict,
        graph_engine=None if graph_engine is None else graph_engine.verdict,
        config=None if refused else config,
    )
