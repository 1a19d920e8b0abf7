// Places as marks: over pictures, and in plans in centimetres.

const MARKS = ["#56b4e9", "#e69f00", "#cc79a7", "#d55e00"]; // told apart with any kind of colour vision
const GOAL = "#2fd09a";

const placesOf = (parts) => parts.map((part, k) => ({ ...part, k })).filter((part) => part.place);
const markColour = (name, k) => (name === "goal" ? GOAL : MARKS[Math.min(k, MARKS.length - 1)]);
const isBelieved = (seen, name, j) => seen.believed[j] || !name.startsWith("object");

// Dark around the colour: seen on every ground.
function strokeMark(context, colour, dashed, scale, path) {
  context.setLineDash(dashed ? [4 * scale, 3 * scale] : []);
  for (const [style, thick] of [["#000b", 3.4], [colour, 1.8]]) {
    context.strokeStyle = style;
    context.lineWidth = thick * scale;
    context.beginPath();
    path();
    context.stroke();
  }
  context.setLineDash([]);
}

// A ring of the expected error, with a dot in it, or a diamond where the goal is.
function drawMark(context, x, y, radius, name, colour, dashed, scale = 1) {
  strokeMark(context, colour, dashed, scale, () => context.arc(x, y, Math.max(radius, 3 * scale), 0, 2 * Math.PI));
  const size = 3.4 * scale;
  context.fillStyle = colour;
  context.beginPath();
  if (name === "goal") {
    [[0, -2], [2, 0], [0, 2], [-2, 0]].forEach(([a, b]) => context.lineTo(x + a * size, y + b * size));
  } else {
    context.arc(x, y, size, 0, 2 * Math.PI);
  }
  context.fill();
}

// Over a picture of a frame, which fills width x height.
function drawSpots(context, seen, j, width, height, scale) {
  if (!seen.spots) {
    return;
  }
  placesOf(seen.parts).forEach((part, k) => {
    const [x, y, radius] = seen.spots[j][k];
    if (x !== null && y !== null) {
      const dashed = !isBelieved(seen, part.name, j);
      drawMark(context, x * width, y * height, radius * width, part.name, markColour(part.name, k), dashed, scale);
    }
  });
}

// Two axes of the places in a box, as large as it can be without stretching.
class Plan {
  constructor(seen, axes, title) {
    Object.assign(this, { seen, axes, title });
    const all = [...seen.values, ...seen.learner.flat(), seen.start];
    const ranges = axes.map((axis) => {
      const found = all.flatMap((row) => placesOf(seen.parts).map((part) => row[part.start + axis]));
      const [low, high] = [Math.min(...found), Math.max(...found)];
      const room = 2 + 0.08 * (high - low);
      return [low - room, high + room];
    });
    // No strip: a plan is at least half as wide as it is high, and the other way round.
    const least = Math.max(...ranges.map(([low, high]) => high - low)) / 2;
    this.range = ranges.map(([low, high]) => {
      const more = Math.max(0, least - (high - low)) / 2;
      return [low - more, high + more];
    });
  }

  draw(context, box, j, learner) {
    const { seen, range } = this;
    const spans = range.map(([low, high]) => high - low);
    const unit = Math.min(box.width / spans[0], (box.height - 22) / spans[1]);
    const left = box.x + (box.width - unit * spans[0]) / 2;
    const bottom = box.y + box.height - (box.height - 22 - unit * spans[1]) / 2;
    const at = (row, part) => [
      left + unit * (row[part.start + this.axes[0]] - range[0][0]),
      bottom - unit * (row[part.start + this.axes[1]] - range[1][0]),
    ];
    context.strokeStyle = themed("line");
    context.lineWidth = 1;
    context.strokeRect(left, bottom - unit * spans[1], unit * spans[0], unit * spans[1]);
    const bar = niceStep(spans[0], 4);
    context.fillStyle = themed("quiet");
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(this.title, left, box.y + 2);
    context.textAlign = "right";
    context.textBaseline = "bottom";
    context.fillText(`${bar} cm`, left + unit * spans[0] - 6, bottom - 8);
    context.fillRect(left + unit * (spans[0] - bar) - 6, bottom - 6, unit * bar, 2);
    context.save();
    context.beginPath();
    context.rect(left, bottom - unit * spans[1], unit * spans[0], unit * spans[1]);
    context.clip();
    placesOf(seen.parts).forEach((part, k) => {
      const colour = markColour(part.name, k);
      context.strokeStyle = colour;
      context.globalAlpha = 0.5;
      context.beginPath();
      seen.values.forEach((row) => context.lineTo(...at(row, part)));
      context.stroke();
      context.globalAlpha = 1;
      const dashed = !isBelieved(seen, part.name, j);
      drawMark(context, ...at(seen.values[j], part), seen.scales[j][part.k] * unit, part.name, colour, dashed);
      if (learner) {
        const [x, y] = at(learner, part);
        strokeMark(context, colour, false, 1, () => {
          [[-5, -5, 5, 5], [-5, 5, 5, -5]].forEach(([a, b, c, d]) => {
            context.moveTo(x + a, y + b);
            context.lineTo(x + c, y + d);
          });
        });
      }
    });
    context.restore();
  }
}
