// The newest of one robot, as the server sends it; nothing is asked for twice.

const about = embedded("live-about");
const SHOWN = 600;
let points = [];
let total = 0;

function connect() {
  const place = new URL("live", location.href);
  place.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  place.search = location.search;
  const socket = new WebSocket(place);
  socket.addEventListener("open", () => say("waiting for a robot"));
  socket.addEventListener("message", (event) => take(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    say("the server is gone; trying again …");
    setTimeout(connect, 2000);
  });
  $("session").onchange = () => {
    clear();
    socket.send($("session").value);
  };
}

function say(text) {
  $("state").textContent = text;
}

function clear() {
  points = [];
  total = 0;
}

function take(news) {
  list(news.sessions, news.session);
  for (const point of news.points) {
    if (point[0] === 0) {
      clear();
    }
    total += point[1];
    points.push(point);
  }
  points = points.slice(-SHOWN);
  if (news.reply) {
    show(news.reply, news.pictures);
  }
  if (news.points.length) {
    draw();
  }
}

function list(sessions, chosen) {
  const select = $("session");
  if (select.dataset.sessions !== JSON.stringify([sessions, chosen])) {
    select.dataset.sessions = JSON.stringify([sessions, chosen]);
    select.replaceChildren(...(sessions.length ? sessions : ["–"]).map((name) => make("option", name)));
    select.disabled = sessions.length === 0;
    if (chosen) {
      select.value = chosen;
    }
  }
  say(sessions.length ? `${sessions.length} connected` : "waiting for a robot");
}

function show(reply, pictures) {
  const places = reply.demo_frames || [reply.demo_frame];
  pictures.forEach((picture, camera) => {
    $(`camera-${camera}`).src = picture;
    const demo = about.lengths[camera].length > 1 ? reply.demo : 0;
    const frame = $(`demo-${camera}-${demo}`).children[places[camera]];
    $(`followed-${camera}`).src = frame.src;
    $(`followed-words-${camera}`).textContent = `${places[camera] + 1} of ${about.lengths[camera][demo]}`;
  });
  for (const name of ["reward", "progress", "coverage"]) {
    $(name).textContent = short(reply[name]);
  }
  $("total").textContent = short(total);
  $("count").textContent = points.length ? points.at(-1)[0] + 1 : "–";
  $("done").textContent = reply.done ? "yes" : "no";
  $("bar").value = reply.progress;
}

function draw() {
  const { context, width, height } = crisp($("live-curve"));
  const plot = { x: 46, y: 10, width: width - 58, height: height - 32 };
  const rewards = points.map((point) => point[1]);
  const low = Math.min(0, ...rewards);
  const high = Math.max(1e-9, ...rewards);
  context.strokeStyle = themed("line");
  context.fillStyle = themed("quiet");
  context.textBaseline = "middle";
  for (const share of [0, 0.5, 1]) {
    const y = plot.y + (1 - share) * plot.height;
    context.beginPath();
    context.moveTo(plot.x, y);
    context.lineTo(plot.x + plot.width, y);
    context.stroke();
    context.textAlign = "right";
    context.fillText(short(low + share * (high - low)), plot.x - 6, y);
  }
  const frames = about.lengths[0][0];
  const lines = [
    ["accent", 2, [], (point) => (point[1] - low) / (high - low)],
    ["stall", 2, [], (point) => point[2]],
    ["quiet", 1.5, [5, 4], (point) => point[3] / Math.max(1, frames - 1)],
  ];
  for (const [colour, thick, dashes, share] of lines) {
    context.strokeStyle = themed(colour);
    context.lineWidth = thick;
    context.setLineDash(dashes);
    context.beginPath();
    points.forEach((point, k) => {
      const x = plot.x + (points.length > 1 ? k / (points.length - 1) : 0) * plot.width;
      const y = plot.y + (1 - Math.min(1, share(point))) * plot.height;
      k ? context.lineTo(x, y) : context.moveTo(x, y);
    });
    context.stroke();
  }
  context.setLineDash([]);
  context.textBaseline = "top";
  context.textAlign = "left";
  if (points.length) {
    context.fillText(`frame ${points[0][0] + 1}`, plot.x, plot.y + plot.height + 6);
    context.textAlign = "right";
    context.fillText(points.at(-1)[0] + 1, plot.x + plot.width, plot.y + plot.height + 6);
  }
  $("live-curve").dataset.points = points.length;
}

redraws.push(draw);
connect();
