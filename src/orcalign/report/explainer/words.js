// Everything on the page that is text: names from outside only ever become text, never markup.

// What the entries of an assignment are, by matcher; others are simply weights.
const MEANINGS = {
  bottleneck: ["Coverage", "how well the demo was followed in order up to each frame, at its worst moment; bright is better"],
  orca: ["Coverage", "how far the demo was covered in order, up to each frame; bright is more"],
  orca_log: ["Coverage", "how far the demo was covered in order, up to each frame; bright is more"],
  orca_progress: ["Coverage", "how far the demo was covered in order, up to each frame; bright is more"],
  ot: ["Transport plan", "which frames are matched; bright is more"],
  temporal_ot: ["Transport plan", "which frames are matched; bright is more"],
  dtw: ["Warping path", "which frames are matched; bright is more"],
  soft_dtw: ["Warping paths", "which frames are matched; bright is more"],
};

function meaning(matcher) {
  return MEANINGS[matcher] || ["Assignment", "how much each pair of frames counts; bright is more"];
}

function fillScores(body, attempts, choose) {
  const judged = attempts.some((attempt) => attempt.verdict);
  for (const element of body.closest("section").querySelectorAll(".judged")) {
    element.hidden = !judged;
  }
  for (const [a, attempt] of attempts.entries()) {
    for (const [m, result] of attempt.results.entries()) {
      const { coverage, quarters, stall } = result.story;
      const row = make("tr", "", { role: "row", "data-attempt": a, "data-matcher": m });
      const pick = make("button", attempt.clip.name, { type: "button", title: `Look at ${attempt.clip.name}` });
      pick.addEventListener("click", () => choose(a, m));
      const name = make("td", "", { role: "cell", "data-label": "Attempt", class: "wide" });
      name.append(pick);
      const verdict = attempt.verdict && [
        ["Score", attempt.verdict.score, "number score"],
        ["Verdict", `${attempt.verdict.done ? "✓ " : ""}${attempt.verdict.text}`, ""],
        ["Camera and light", attempt.verdict.words.join("; ") || "as in the demo", ""],
      ];
      const cells = [
        ...(verdict || []),
        ["Matcher", result.matcher, "wide"],
        ["Total", short(result.total), "number"],
        ["Coverage", short(coverage), "number"],
        ...quarters.map((frame, k) => [`${25 * (k + 1)}% at`, frame === null ? "never" : frame, "number"]),
        ["Longest stall", stall === 1 ? "1 frame" : `${stall} frames`, "number stall"],
      ];
      row.append(name);
      for (const [label, text, kind] of cells) {
        row.append(make("td", text, { role: "cell", "data-label": label, class: kind }));
      }
      body.append(row);
    }
  }
}

function markScores(body, a, m) {
  for (const row of body.rows) {
    const chosen = Number(row.dataset.attempt) === a && Number(row.dataset.matcher) === m;
    row.setAttribute("aria-current", chosen);
  }
}

function fillSpans(list, spans, go) {
  list.replaceChildren();
  if (!spans.length) {
    list.append(make("li", "No stall, no skipped part and no way back was found."));
  }
  for (const span of spans) {
    const button = make("button", "", { type: "button", "data-start": span.start, "data-stop": span.stop });
    const { name, letter } = KINDS[span.kind];
    button.append(make("span", `${letter} ${name}`, { class: `kind ${span.kind}` }), make("span", span.text));
    button.addEventListener("click", () => go(span.start));
    const item = make("li", "");
    item.append(button);
    list.append(item);
  }
}

function markSpans(list, t) {
  for (const button of list.querySelectorAll("button")) {
    const start = Number(button.dataset.start);
    const stop = Math.max(Number(button.dataset.stop), start + 1);
    button.setAttribute("aria-current", start <= t && t < stop);
  }
}

function fillScale(element, matrix, reversed) {
  const ends = [short(matrix.low), short(matrix.high)];
  if (matrix.log) {
    ends[0] = `≤ ${ends[0]}`;
  }
  const bar = make("i", "");
  bar.style.background = colourBar();
  if (reversed) {
    ends.reverse();
  }
  element.replaceChildren(make("span", ends[0]), bar, make("span", ends[1]));
  if (matrix.log) {
    element.append(make("span", "(logarithmic)"));
  }
  if (matrix.thinned()) {
    element.append(make("span", `(${matrix.rows} × ${matrix.columns} of ${matrix.T} × ${matrix.J} cells)`));
  }
}

function caption(element, clip, frame) {
  if (clip.sentences) {
    element.replaceChildren(make("span", `goal ${frame} / ${clip.last()}`), " · ", make("span", clip.sentences[frame]));
    return;
  }
  element.replaceChildren(make("span", `frame ${frame} / ${clip.last()}`), " · ", make("span", clip.seconds(frame)));
}

function fillSettings(list, settings) {
  for (const [name, value] of settings) {
    list.append(make("dt", name), make("dd", value));
  }
  list.closest("footer").hidden = !settings.length;
}
