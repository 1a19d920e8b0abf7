"""The page at `/`: camera, demo frame followed, reward and progress, live."""

from __future__ import annotations

from orcalign.report.explainer.document import PagePart, part_text, render_document, safe
from orcalign.report.explainer.embedding import CLIP_BYTES, embed_frames, image_tags
from orcalign.serving.live import LiveReward


def live_page(live: LiveReward) -> str:
    """One page with all demo frames in it; the rest comes over the WebSocket `/live`."""
    budget = CLIP_BYTES // sum(len(reward.demos) for reward in live.rewards)
    rows, about = [], live.about
    for camera, (key, reward) in enumerate(zip(live.keys, live.rewards, strict=True)):
        told = []
        for k, demo in enumerate(reward.demos):
            frames = [f"demo {k}, frame {j}" for j in range(len(demo))]
            told.append(f'<div id="demo-{camera}-{k}">{image_tags(embed_frames(demo.frames, budget), frames)}</div>')
        rows.append(part_text(__package__, "camera.html").format(camera=camera, key=safe(key), demos="".join(told)))
    names = ", ".join(demo["name"] for demo in about["cameras"][0]["demos"])
    lengths = [[demo["frames"] for demo in camera["demos"]] for camera in about["cameras"]]
    part = PagePart(
        part_text(__package__, "live.html").replace("{cameras}", "".join(rows)),
        part_text(__package__, "live.js"),
        part_text(__package__, "live.css"),
        {"live-about": {"lengths": lengths, "done_at": live.done_at}},
    )
    heading = f"Live, against {names}"
    subtitle = f"{about['matcher']}, {about['encoder']}; done from a coverage of {live.done_at:g}"
    return render_document(f"live, {names}", heading, subtitle, [part], connects=True)
