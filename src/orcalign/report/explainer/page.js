// What is looked at, and what the controls do. `show` draws the page anew from the state, whatever has changed.

const report = embedded("report");
const demo = new Clip(report.demo);
const attempts = report.attempts.map((attempt) => ({ ...attempt, clip: new Clip(attempt.clip) }));
const state = { a: 0, m: 0, t: 0, follow: "followed", cell: null, playing: null };

const costMap = new Heatmap($("cost"), true, demo.sentences);
const assignmentMap = new Heatmap($("assignment"), false, demo.sentences);
const curve = new Curve($("curve"));

const attempt = () => attempts[state.a];
const result = () => attempt().results[state.m];

function demoFrame() {
  if (state.follow === "share") {
    const last = attempt().clip.last();
    return last ? Math.round((state.t / last) * demo.last()) : 0;
  }
  if (state.follow === "wanted") {
    return attempt().wanted[state.t];
  }
  return result().followed[state.t];
}

function show() {
  const { t } = state;
  const { clip } = attempt();
  const j = demoFrame();
  clip.show($("learner-frame"), t);
  demo.show($("demo-frame"), j);
  caption($("demo-caption"), demo, j);
  caption($("learner-caption"), clip, t);
  $("demo-frame").setAttribute("aria-label", `Demo, ${demo.called(j)}`);
  $("learner-frame").setAttribute("aria-label", `Learner, frame ${t}`);
  $("readout").textContent = `reward ${short(result().reward[t])}`;
  $("time").value = t;
  $("time").setAttribute("aria-valuetext", `frame ${t} of ${clip.last()}, demo ${demo.called(j)}, reward ${short(result().reward[t])}`);
  curve.draw(t);
  costMap.draw(t, j, state.cell);
  assignmentMap.draw(t, j, state.cell);
  markSpans($("spans"), t);
  document.dispatchEvent(new CustomEvent("moment", { detail: { a: state.a, t, j } })); // for other parts of the page
}

function go(t) {
  state.t = Math.min(Math.max(t, 0), attempt().clip.last());
  show();
}

function choose(a, m) {
  stop();
  hideCell();
  Object.assign(state, { a, m });
  const { clip, cost, results } = attempt();
  const chosen = result();
  $("attempt").value = a;
  $("matcher").replaceChildren(...results.map((each, k) => make("option", each.matcher, { value: k })));
  $("matcher").value = m;
  $("time").max = clip.last();
  const [name, says] = meaning(chosen.matcher);
  $("assignment-name").textContent = name;
  $("assignment-meaning").textContent = says;
  $("cost").setAttribute("aria-label", "Cost of every pair of learner and demo frames. Arrow keys move from cell to cell.");
  $("assignment").setAttribute("aria-label", `${name}: ${says}. Arrow keys move from cell to cell.`);
  $("curve").setAttribute("aria-label", `Reward of ${chosen.matcher} at every frame, ${short(chosen.total)} in total`);
  costMap.set(new Matrix(cost, clip.count, demo.count));
  assignmentMap.set(new Matrix(chosen.assignment, clip.count, demo.count));
  fillScale($("cost-scale"), costMap.matrix, true);
  fillScale($("assignment-scale"), assignmentMap.matrix, false);
  curve.set(chosen, clip.count);
  fillSpans($("spans"), chosen.story.spans, go);
  markScores($("scores").tBodies[0], a, m);
  go(state.t);
}

// Another attempt is looked at with the same matcher, if it has it.
function chooseAttempt(a) {
  const same = attempts[a].results.findIndex((each) => each.matcher === result().matcher);
  choose(a, Math.max(same, 0));
}

function play() {
  if (state.t >= attempt().clip.last()) {
    state.t = 0;
  }
  const from = { t: state.t, at: performance.now() };
  const speed = Number($("speed").value);
  const step = (now) => {
    const { clip } = attempt();
    // The time of a drawing is that of its beginning, which may lie before the key was pressed.
    const seconds = Math.max(now - from.at, 0) / 1000;
    const t = Math.min(from.t + Math.floor(seconds * clip.fps * speed), clip.last());
    clip.prepare(t, 6);
    if (t > state.t) {
      go(t);
    }
    if (t >= clip.last()) {
      stop();
    } else {
      state.playing = requestAnimationFrame(step);
    }
  };
  state.playing = requestAnimationFrame(step);
  $("play").textContent = "Pause";
}

function stop() {
  cancelAnimationFrame(state.playing);
  state.playing = null;
  $("play").textContent = "Play";
}

function seek(t) {
  stop();
  go(t);
}

const toggle = () => (state.playing === null ? play() : stop());

function showCell(map, cell, x, y) {
  state.cell = { ...cell, map };
  show();
  const panel = $("compare");
  panel.hidden = false;
  demo.show($("compare-demo"), cell.j);
  attempt().clip.show($("compare-learner"), cell.t);
  const captions = panel.querySelectorAll("figcaption");
  captions[0].textContent = `Demo ${demo.called(cell.j)}`;
  captions[1].textContent = `Learner frame ${cell.t}`;
  const cost = costMap.matrix.text(cell.row, cell.column);
  const share = assignmentMap.matrix.text(cell.row, cell.column);
  $("compare-text").textContent = `cost ${cost} · ${$("assignment-name").textContent.toLowerCase()} ${share}`;
  // Beside the pointer, on the side with more room; narrow screens have it at the foot, by the style sheet.
  const { offsetWidth: width, offsetHeight: height } = panel;
  const { clientWidth, clientHeight } = document.documentElement; // without the scroll bars
  const left = x + 26 + width > clientWidth ? x - width - 18 : x + 18;
  panel.style.left = `${Math.max(left, 8)}px`;
  panel.style.top = `${Math.max(Math.min(y - height / 2, clientHeight - height - 8), 8)}px`;
}

function hideCell() {
  state.cell = null;
  $("compare").hidden = true;
}

const CELL_STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// From the cell in view, or from the pair of frames in view, to the next cell that is kept.
function moveCell(map, [down, across]) {
  const { rows, columns, T, J } = map.matrix;
  const start = state.cell || map.cell(state.t, demoFrame());
  const row = Math.min(Math.max(start.row + down, 0), rows - 1);
  const column = Math.min(Math.max(start.column + across, 0), columns - 1);
  const cell = { row, column, t: keptFrame(row, rows, T), j: keptFrame(column, columns, J) };
  const box = map.canvas.getBoundingClientRect();
  const { x, y, width, height } = map.plot;
  showCell(map, cell, box.left + x + (width * cell.j) / J, box.top + y + (height * cell.t) / T);
}

function listenToMap(map) {
  const { canvas } = map;
  const point = (event) => {
    const cell = map.cellAt(event);
    if (cell) {
      showCell(map, cell, event.clientX, event.clientY);
    } else if (state.cell) {
      hideCell();
      show();
    }
    return cell;
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", (event) => {
    const cell = point(event);
    if (cell && event.pointerType === "mouse") {
      seek(cell.t);
    }
  });
  for (const leaving of ["pointerleave", "blur"]) {
    canvas.addEventListener(leaving, (event) => {
      // A finger that is lifted leaves too; its cell stays until something else is tapped.
      if (state.cell && (leaving === "blur" || event.pointerType === "mouse")) {
        hideCell();
        show();
      }
    });
  }
  canvas.addEventListener("keydown", (event) => {
    if (event.key in CELL_STEPS) {
      event.preventDefault();
      event.stopPropagation();
      moveCell(map, CELL_STEPS[event.key]);
    }
  });
}
