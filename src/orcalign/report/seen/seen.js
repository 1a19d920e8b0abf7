// A demo frame with what the eye sees in it; it goes along with the explainer where the page has one.

const seen = embedded("seen");
const film = new Clip(seen.clip || embedded("report").demo);
const J = seen.values.length;
const now = { j: 0, learner: null };
const places = placesOf(seen.parts);
const objects = places.some((part) => part.name.startsWith("object"));
const dims = places.length ? places[0].stop - places[0].start : 0;

// From the side: against the horizontal axis along which the first part goes farthest.
function plans() {
  if (dims < 2 || dims > 3) {
    return [];
  }
  const found = [new Plan(seen, [0, 1], dims === 3 ? "from above" : "the plane")];
  if (dims === 3) {
    const way = (axis) => {
      const values = seen.values.map((row) => row[places[0].start + axis]);
      return Math.max(...values) - Math.min(...values);
    };
    found.push(new Plan(seen, [way(0) > way(1) ? 0 : 1, 2], "from the side"));
  }
  return found;
}

const views = plans();
$("seen-ground").hidden = !objects;
$("seen-plan").parentElement.hidden = !views.length;

function drawPicture() {
  const { j } = now;
  film.picture(j).then((image) => {
    if (j !== now.j) {
      return;
    }
    const canvas = $("seen-picture");
    canvas.style.aspectRatio = `${film.width} / ${film.height}`;
    const { context, width, height } = crisp(canvas);
    context.drawImage(image, 0, 0, width, height);
    drawSpots(context, seen, j, width, height, 1);
    canvas.dataset.frame = j;
  });
}

function drawPlans() {
  const { context, width, height } = crisp($("seen-plan"));
  const each = width / Math.max(views.length, 1);
  views.forEach((view, k) => view.draw(context, { x: k * each + 4, y: 0, width: each - 8, height: height - 4 }, now.j, now.learner));
}

// Expected errors as lines over the frames, on a ground that says where objects are believed.
function drawTrust() {
  const { context, width, height } = crisp($("seen-trust"));
  const plot = { x: 40, y: 8, width: width - 52, height: height - 48 };
  const high = 1.1 * Math.max(1, ...seen.scales.flat());
  const x = (j) => plot.x + ((j + 0.5) / J) * plot.width;
  const y = (cm) => plot.y + plot.height * (1 - cm / high);
  seen.believed.forEach((believed, j) => {
    context.fillStyle = !objects ? themed("panel") : believed ? "#009e7340" : "#d55e0066";
    context.fillRect(plot.x + (j / J) * plot.width, plot.y, plot.width / J + 0.5, plot.height);
  });
  context.fillStyle = themed("quiet");
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let cm = 0, step = niceStep(high, 4); cm <= high; cm += step) {
    context.fillText(cm, plot.x - 6, y(cm));
  }
  drawTicks(context, plot, J, "demo frame; upwards: expected error in cm", false);
  places.forEach((part, k) => {
    strokeMark(context, markColour(part.name, k), false, 0.8, () =>
      seen.scales.forEach((row, j) => context.lineTo(x(j), y(row[part.k]))));
  });
  context.strokeStyle = themed("ink");
  context.lineWidth = 2;
  context.strokeRect(x(now.j) - 1, plot.y, 2, plot.height);
}

function showSeen() {
  $("seen-time").value = now.j;
  $("seen-frame").textContent = now.j;
  $("seen-words").textContent = seen.words[now.j].join("; ");
  drawPicture();
  drawPlans();
  drawTrust();
}

function goSeen(j, learner = null) {
  Object.assign(now, { j, learner });
  showSeen();
}

places.forEach((part, k) => {
  const item = make("li", part.name);
  const dot = make("i", "");
  dot.style.background = markColour(part.name, k);
  item.prepend(dot);
  $("seen-legend").append(item);
});
$("seen-time").addEventListener("input", (event) => goSeen(Number(event.target.value)));
document.addEventListener("moment", ({ detail: { a, t, j } }) => {
  const learner = seen.learner[a] ? seen.learner[a][t] : null;
  goSeen(j, learner);
});
if ($("demo-frame")) {
  $("demo-frame").addEventListener("drawn", ({ target, detail }) => {
    // Small pictures are enlarged first, so that the marks are sharp.
    const { width, height } = target;
    const picture = document.createElement("canvas");
    Object.assign(picture, { width, height });
    picture.getContext("2d").drawImage(target, 0, 0);
    const more = Math.max(1, Math.round(640 / width));
    Object.assign(target, { width: more * width, height: more * height });
    const context = target.getContext("2d");
    context.drawImage(picture, 0, 0, target.width, target.height);
    drawSpots(context, seen, detail, target.width, target.height, target.width / 320);
  });
}
redraws.push(showSeen);
new ResizeObserver(showSeen).observe($("seen-trust"));
