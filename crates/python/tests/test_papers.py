"""Results on disk, and figures for papers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from goodqueue import Bulk, Echo, Link, PlotError, Result, ResultError, Scenario, _core, run

LINK = Link(rate="5 Mbit/s", delay="5 ms", buffer="50 packets")
SCENARIO = Scenario(
    warmup="1 s",
    duration="2 s",
    replications=2,
    link=LINK,
    traffic=[Bulk(flows=2), Echo()],
    sweep={"link.bottleneck.queue": ["tail-drop", "codel"]},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("results")
    (place / "s.toml").write_text(SCENARIO.to_toml())
    assert _core.command(["gq"], ["run", str(place / "s.toml"), "--out", str(place / "r")]) == 0
    return place / "r"


@pytest.fixture(scope="module")
def ran() -> Result:
    return run(SCENARIO)


TABLES = ["points", "links", "groups", "flows", "fairness", "cdf", "series", "packets", "validity"]


@pytest.mark.parametrize("name", TABLES)
def test_a_folder_has_the_tables_of_a_run(folder: Path, ran: Result, name: str) -> None:
    assert_frame_equal(getattr(Result.load(folder), name), getattr(ran, name))


def test_a_folder_has_the_summary_of_a_run(folder: Path, ran: Result) -> None:
    loaded = Result.load(str(folder))
    assert loaded.to_json() == (folder / "summary.json").read_text()
    assert loaded.headline == ran.headline
    assert (loaded.host, loaded.complete, loaded.failures) == ("sim", True, ())
    assert loaded.to_pandas("links").shape == ran.to_pandas("links").shape
    assert isinstance(loaded.table("series"), pl.DataFrame)


@pytest.mark.parametrize("figure", ["tradeoff", "cdf", "time", "bars"])
def test_a_figure_is_the_same_from_a_folder_and_from_memory(folder: Path, ran: Result, figure: str) -> None:
    drawing = Result.load(folder).plot(figure, width="84mm", font="serif")
    assert drawing.svg == ran.plot(figure, width="84mm", font="serif").svg
    assert 'width="3.3071in"' in drawing.svg
    assert drawing._repr_svg_() == drawing.svg


def test_a_figure_is_saved_in_the_format_of_its_name(ran: Result, tmp_path: Path) -> None:
    drawing = ran.plot("cdf", group="echo")
    drawing.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == drawing.svg
    try:
        drawing.save(tmp_path / "a.pdf")
    except PlotError as error:
        assert "no fonts" in error.message or "built without" in error.message
        return
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-1.7")
    assert drawing.to_bytes("png").startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("settings", "field", "message"),
    [
        ({"figure": "pie"}, "figure", "there is no kind of figure `pie`"),
        ({"figure": "cdf", "width": "0in"}, "width", "0in is out of range: allowed 1in to 20in"),
        ({"figure": "cdf", "font_size": "1pt"}, "font_size", "1pt is out of range: allowed 4pt to 36pt"),
        ({"figure": "bars", "metric": "mos"}, "metric", "there is no figure `mos`"),
        ({"figure": "bars", "only": "pie"}, "only", "there is no point `pie`"),
    ],
)
def test_wrong_settings_are_named(ran: Result, settings: dict[str, str], field: str, message: str) -> None:
    with pytest.raises(PlotError) as raised:
        ran.plot(**settings)  # type: ignore[arg-type]
    assert raised.value.field == field
    assert raised.value.message.startswith(message)


def test_a_folder_without_a_result_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="there is no such folder"):
        Result.load(tmp_path / "nowhere")
    with pytest.raises(ResultError, match=r"it has no summary\.json"):
        Result.load(tmp_path)
    (tmp_path / "summary.json").write_bytes((folder / "summary.json").read_bytes())
    (tmp_path / "series.parquet").write_bytes(b"PAR1")
    torn = Result.load(tmp_path)
    assert torn.cdf.is_empty()
    with pytest.raises(ResultError, match=r"series\.parquet: cannot be read"):
        _ = torn.series
