// All episodes of a data set: only the rows that are in view exist, so that thousands of them scroll well.

const data = embedded("dataset");
const HEIGHT = 76;
const list = $("list");
const video = $("video");
const drawn = new Map();
let shown = [];
let chosen = null;

const decode = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function line(context, values, left, top, width, height) {
  context.beginPath();
  values.forEach((value, k) => {
    const x = left + (values.length > 1 ? k / (values.length - 1) : 0.5) * width;
    const y = top + (1 - value / 255) * height;
    k ? context.lineTo(x, y) : context.moveTo(x, y);
  });
  context.stroke();
}

function drawCurves(canvas, episode, left = 2, above = 3, below = 3) {
  const { context, width, height } = crisp(canvas);
  context.clearRect(0, 0, width, height);
  const plot = { x: left, y: above, width: width - left - 4, height: height - above - below };
  context.strokeStyle = themed("line");
  context.lineWidth = 1;
  for (const level of [0, 0.5, 1]) {
    const y = plot.y + (1 - level) * plot.height;
    context.beginPath();
    context.moveTo(plot.x, y);
    context.lineTo(plot.x + plot.width, y);
    context.stroke();
  }
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.strokeStyle = themed("quiet");
  line(context, decode(episode.sparse), plot.x, plot.y, plot.width, plot.height);
  context.setLineDash([]);
  context.lineWidth = 2;
  context.strokeStyle = themed("accent");
  line(context, decode(episode.dense), plot.x, plot.y, plot.width, plot.height);
  return { context, plot };
}

function makeRow(episode, place) {
  const row = make("div", "", { class: "row", role: "option", id: `episode-${episode.number}` });
  row.dataset.episode = episode.number;
  const picture = make("img", "", { alt: `last frame of episode ${episode.number}`, src: episode.picture });
  const words = make("div", "");
  words.append(make("b", `episode ${episode.number}`));
  const meter = make("div", "", { class: "meter" });
  const bar = make("i", "");
  bar.style.width = `${100 * episode.score}%`;
  meter.append(bar);
  const own = episode.number === data.demo ? "the demo" : `score ${episode.score.toFixed(2)}`;
  words.append(make("span", own), meter);
  const known = episode.failed ? "failed in truth" : `${episode.frames} frames`;
  words.append(make("span", known, episode.failed ? { class: "failed" } : {}));
  const curve = make("canvas", "", { "aria-hidden": "true" });
  row.append(picture, words, curve);
  row.addEventListener("click", () => choose(episode));
  row.style.top = `${place * HEIGHT}px`;
  return row;
}

function draw() {
  const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 4);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + 4);
  const wanted = new Set();
  for (let place = first; place < last; place++) {
    const episode = shown[place];
    wanted.add(episode.number);
    let row = drawn.get(episode.number);
    if (!row) {
      row = makeRow(episode, place);
      drawn.set(episode.number, row);
      $("rows").append(row);
      drawCurves(row.querySelector("canvas"), episode);
    }
    row.setAttribute("aria-selected", String(episode === chosen));
  }
  for (const [number, row] of drawn) {
    if (!wanted.has(number)) {
      row.remove();
      drawn.delete(number);
    }
  }
}

const ORDERS = {
  worst: (a, b) => a.score - b.score || a.number - b.number,
  best: (a, b) => b.score - a.score || a.number - b.number,
  number: (a, b) => a.number - b.number,
  stall: (a, b) => b.stall - a.stall || a.number - b.number,
  frames: (a, b) => b.frames - a.frames || a.number - b.number,
};

function refresh() {
  const asked = $("find").value.trim();
  shown = data.episodes.filter(
    (one) => (!asked || String(one.number).startsWith(asked)) && (!$("failed").checked || one.failed),
  );
  shown.sort(ORDERS[$("order").value]);
  $("rows").style.height = `${shown.length * HEIGHT}px`;
  $("count").textContent = `${shown.length} of ${data.episodes.length} episodes`;
  drawn.forEach((row) => row.remove());
  drawn.clear();
  list.scrollTop = 0;
  if (shown.length && !shown.includes(chosen)) {
    choose(shown[0]);
  }
  draw();
}

function position() {
  return Math.max(0, Math.min(1, (video.currentTime - chosen.begins) * data.fps / Math.max(1, chosen.frames - 1)));
}

function drawBig() {
  if (!chosen) {
    return;
  }
  const { context, plot } = drawCurves($("big"), chosen, 34, 10, 38);
  drawTicks(context, plot, chosen.frames, "frame");
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const level of [0, 1]) {
    context.fillText(level, plot.x - 6, plot.y + (1 - level) * plot.height);
  }
  if (video.readyState > 1) {
    context.strokeStyle = themed("stall");
    context.beginPath();
    context.moveTo(plot.x + position() * plot.width, plot.y);
    context.lineTo(plot.x + position() * plot.width, plot.y + plot.height);
    context.stroke();
  }
}

function choose(episode) {
  chosen = episode;
  $("name").textContent = `Episode ${episode.number}`;
  const quarters = episode.quarters.map((frame) => (frame === null ? "never" : frame)).join(", ");
  const seconds = (episode.frames / data.fps).toFixed(1);
  const truth = episode.truth ? ` · truth: ${episode.truth}` : "";
  $("facts").textContent =
    `score ${episode.score.toFixed(2)} · ${episode.frames} frames, ${seconds} s · quarters covered at frame ${quarters}${truth}`;
  $("words").replaceChildren(...episode.words.map((text) => make("li", text)));
  $("why").replaceChildren();
  if (episode.page) {
    $("why").append(make("a", "Why: frame by frame, beside the demo", { href: episode.page, id: "explainer" }));
  } else {
    $("why").append(make("span", "A page that explains it is written with a larger --explain.", { class: "note" }));
  }
  const source = data.videos[episode.video];
  $("silent").hidden = true;
  video.hidden = false;
  if (video.dataset.source !== source) {
    video.dataset.source = source;
    video.src = source;
    video.preload = "metadata";
  }
  // Half a frame in, where no clock can round to the episode before.
  video.currentTime = episode.begins + 0.5 / data.fps;
  list.setAttribute("aria-activedescendant", `episode-${episode.number}`);
  draw();
  drawBig();
}

video.addEventListener("error", () => {
  $("silent").hidden = false;
  video.hidden = true;
});
function follow() {
  if (video.currentTime > chosen.begins + (chosen.frames - 0.5) / data.fps) {
    video.pause();
  }
  drawBig();
}
video.addEventListener("timeupdate", follow);
video.addEventListener("seeked", drawBig);
video.addEventListener("loadeddata", drawBig);
$("big").addEventListener("click", (event) => {
  const box = $("big").getBoundingClientRect();
  const share = Math.max(0, Math.min(1, (event.clientX - box.left - 34) / (box.width - 38)));
  video.currentTime = chosen.begins + (share * (chosen.frames - 1) + 0.5) / data.fps;
});
list.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
list.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    const place = Math.max(0, Math.min(shown.length - 1, shown.indexOf(chosen) + step));
    const top = place * HEIGHT;
    list.scrollTop = Math.max(top + HEIGHT - list.clientHeight, Math.min(list.scrollTop, top));
    choose(shown[place]);
  }
});
for (const name of ["order", "failed"]) {
  $(name).addEventListener("change", refresh);
}
$("find").addEventListener("input", refresh);
$("only").hidden = !data.episodes.some((one) => one.failed);
function redrawAll() {
  for (const [number, row] of drawn) {
    drawCurves(row.querySelector("canvas"), data.episodes.find((one) => one.number === number));
  }
  drawBig();
}
redraws.push(redrawAll);
addEventListener("resize", redrawAll);
refresh();
