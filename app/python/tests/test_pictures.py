"""Pictures: PNG in both schemes, and the page with hover and zoom."""
import json
import re
import struct
import time

import pytest

import lockstep


def size(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize("view", sorted(lockstep.views()))
def test_every_view_is_drawn_and_said(result, view):
    picture = result.show(view, width=640, height=480, theme="light")
    assert size(picture.png()) == (640, 480) and len(picture.words) > 20


def test_a_notebook_gets_both_schemes(result):
    bundle, _ = result.show("warps")._repr_mimebundle_()
    assert set(bundle) == {"image/png", "text/html", "text/plain"}
    assert bundle["text/html"].count("data:image/png;base64") == 2 and "data-jp-theme-light" in bundle["text/html"]
    light, dark = result.show("warps", theme="light"), result.show("warps", theme="dark")
    assert light._repr_png_() != dark._repr_png_()
    assert "text/html" not in dark._repr_mimebundle_()[0]


def test_a_cycle_and_a_warp_are_looked_at(result):
    middle = result.cycles // 2
    picture = result.show("warps", theme="dark", cycle=middle, warp=1)
    assert picture.png() != result.show("warps", theme="dark").png()
    assert f"{middle:,}" in picture.words


def test_what_there_is_not_is_refused(result):
    with pytest.raises(lockstep.Error, match="did you mean 'warps'"):
        result.show("warpz")
    with pytest.raises(lockstep.Error, match="theme"):
        result.show("warps", theme="blue")
    with pytest.raises(lockstep.Error, match="320x240"):
        result.show("warps", theme="dark", width=10)


def test_a_picture_takes_less_than_a_second_of_the_processor(result):
    result.show("warps", theme="dark").png()
    begin = time.process_time()
    result.show("warps", theme="light").png()
    assert time.process_time() - begin < 1


def test_a_picture_is_saved(result, tmp_path):
    result.show("sm").save(tmp_path / "sm.png")
    assert size((tmp_path / "sm.png").read_bytes()) == (1160, 760)
    with pytest.raises(lockstep.Error, match="F.png"):
        result.show("sm").save(tmp_path / "sm.gif")


def test_the_page_needs_nothing_from_elsewhere(result, tmp_path):
    view = result.html()
    view.save(tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", text) and "import(" not in text
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S).group(1).replace("<\\/", "</"))
    assert data["cycles"] == result.cycles and data["i"]["n"] == len(result.trace.issues.cycle)
    assert "saxpy" in "".join(data["source"]) and "<iframe" in view._repr_html_()


def test_results_say_themselves(result):
    assert "cycles" in repr(result) and "saxpy" in result._repr_html_()
