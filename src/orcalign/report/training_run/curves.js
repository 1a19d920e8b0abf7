// Learning curves: one canvas a chart, and one place along all of them that is read off.

const learning = embedded("learning");
const MARGIN = { left: 56, right: 14, top: 16, bottom: 34 };
const LINES = { line: [2.2, []], dashed: [2.2, [6, 4]], dotted: [2.4, [2, 3]], thin: [1.2, []] };
let cursor = null;

// Round values between two others: at most `most` of them.
function ticks(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(k * step);
  }
  return found;
}

function tickText(value, all) {
  const step = all.length > 1 ? all[1] - all[0] : Math.abs(value) || 1;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const size = Math.max(...all.map(Math.abs));
  if (digits > 4 || size >= 1e6) {
    return value === 0 ? "0" : value.toExponential(1).replace("-", "−").replace("e-", "e−").replace("e+", "e");
  }
  return value.toFixed(digits).replace("-", "−");
}

function stepText(step, all) {
  const unit = Math.max(...all) >= 1e6 ? [1e6, "M"] : Math.max(...all) >= 1e4 ? [1e3, "k"] : [1, ""];
  return step === 0 ? "0" : `${Number((step / unit[0]).toFixed(2))}${unit[1]}`;
}

const stepNumber = (step) => Math.round(step).toLocaleString("en");

// The point nearest along the axis; points are in the order of their steps.
function nearest(points, step) {
  let low = 0;
  let high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= step) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return step - points[low][0] <= points[high][0] - step ? points[low] : points[high];
}

class Chart {
  constructor(spec) {
    this.spec = spec;
    this.canvas = make("canvas", "", { class: "chart", role: "img", tabindex: 0, "aria-label": this.description() });
    this.readout = make("p", "", { class: "readout", "aria-live": "polite" });
    const caption = make("figcaption", "");
    caption.append(make("b", spec.title), make("span", ` ${spec.note}`, { class: "note" }));
    this.figure = make("figure", "");
    this.figure.append(caption, this.canvas, this.readout);
    // What the dots are single cases of is read off from the line.
    this.read = spec.series.filter((each) => each.kind !== "dots");
    this.steps = (this.read.at(-1) || spec.series[0]).points;
    this.listen();
  }

  description() {
    const last = this.spec.series.at(-1);
    const [step, value] = last.points.at(-1);
    return `${this.spec.title}: ${last.name} ${short(value)} at step ${stepNumber(step)}, the last. Arrow keys read the curve off.`;
  }

  listen() {
    const point = (event) => {
      const share = (event.clientX - this.canvas.getBoundingClientRect().left - this.plot.x) / this.plot.width;
      readOff(nearest(this.steps, Math.min(Math.max(share, 0), 1) * learning.last)[0]);
    };
    this.canvas.addEventListener("pointermove", point);
    this.canvas.addEventListener("pointerdown", point);
    this.canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && readOff(null));
    this.canvas.addEventListener("blur", () => readOff(null));
    this.canvas.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (move) {
        event.preventDefault();
        event.stopPropagation();
        const here = cursor === null ? this.steps.length : this.steps.indexOf(nearest(this.steps, cursor));
        readOff(this.steps[Math.min(Math.max(here + move, 0), this.steps.length - 1)][0]);
      }
    });
  }

  x(step) {
    return this.plot.x + (step / learning.last) * this.plot.width;
  }

  y(value) {
    const { low, high } = this.spec;
    return this.plot.y + ((high - value) / (high - low)) * this.plot.height;
  }

  draw() {
    const { context, width, height } = crisp(this.canvas);
    const { left, right, top, bottom } = MARGIN;
    this.plot = { x: left, y: top, width: width - left - right, height: height - top - bottom };
    this.drawAxes(context);
    this.drawMarks(context);
    context.save();
    context.beginPath();
    context.rect(this.plot.x - 8, this.plot.y - 8, this.plot.width + 16, this.plot.height + 16);
    context.clip();
    this.spec.rules.forEach((rule) => this.drawRule(context, rule));
    this.spec.series.filter((series) => series.band).forEach((series) => this.drawBand(context, series));
    this.spec.series.forEach((series) => (series.kind === "dots" ? this.drawDots(context, series) : this.drawLine(context, series)));
    this.drawBest(context);
    context.restore();
    this.drawCursor(context);
    this.fillReadout();
  }

  drawAxes(context) {
    const { x, y, width, height } = this.plot;
    context.strokeStyle = themed("line");
    context.fillStyle = themed("quiet");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const levels = ticks(this.spec.low, this.spec.high, 5);
    for (const value of levels) {
      const at = Math.round(this.y(value)) + 0.5;
      context.beginPath();
      context.moveTo(x, at);
      context.lineTo(x + width, at);
      context.stroke();
      context.fillText(tickText(value, levels), x - 6, at);
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    const steps = ticks(0, learning.last, Math.max(2, Math.floor(width / 70)));
    for (const step of steps) {
      context.fillText(stepText(step, steps), this.x(step), y + height + 6);
    }
    context.textAlign = "right";
    context.fillText("steps →", x + width, y + height + 20);
  }

  drawMarks(context) {
    const { y, height } = this.plot;
    context.strokeStyle = context.fillStyle = themed("backwards");
    context.lineWidth = 1;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    let free = -Infinity;
    learning.marks.forEach((mark, k) => {
      const x = Math.round(this.x(mark.step)) + 0.5;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x, y + height);
      context.stroke();
      context.setLineDash([]);
      if (x >= free) {
        context.fillText(k + 1, x, y - 1);
        free = x + 15;
      }
    });
  }

  drawRule(context, rule) {
    const at = this.y(rule.value);
    context.strokeStyle = context.fillStyle = themed("quiet");
    context.lineWidth = 1.4;
    context.setLineDash([2, 2]);
    context.beginPath();
    context.moveTo(this.plot.x, at);
    context.lineTo(this.plot.x + this.plot.width, at);
    context.stroke();
    context.setLineDash([]);
    context.textAlign = "left";
    context.textBaseline = "bottom";
    context.fillText(rule.text, this.plot.x + 18, at - 2); // beside a mark at the first steps
  }

  drawDots(context, series) {
    context.fillStyle = themed(series.colour);
    context.globalAlpha = 0.28;
    for (const [step, value] of series.points) {
      context.beginPath();
      context.arc(this.x(step), this.y(value), 2.2, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  // Between the second and the third number at each step, where a series has that.
  drawBand(context, series) {
    const { band } = series;
    context.fillStyle = themed(series.colour);
    context.globalAlpha = 0.18;
    context.beginPath();
    band.forEach(([step, low]) => context.lineTo(this.x(step), this.y(low)));
    [...band].reverse().forEach(([step, , high]) => context.lineTo(this.x(step), this.y(high)));
    context.fill();
    context.globalAlpha = 1;
  }

  drawLine(context, series) {
    const [thick, dash] = LINES[series.kind];
    context.strokeStyle = context.fillStyle = themed(series.colour);
    context.lineWidth = thick;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.beginPath();
    for (const [step, value] of series.points) {
      context.lineTo(this.x(step), this.y(value));
    }
    context.stroke();
    context.setLineDash([]);
    if (series.points.length === 1) {
      const [[step, value]] = series.points; // a line of one point would not be seen
      context.beginPath();
      context.arc(this.x(step), this.y(value), 4, 0, 2 * Math.PI);
      context.fill();
    }
  }

  drawBest(context) {
    if (this.spec.best) {
      context.strokeStyle = themed("ink");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(this.x(this.spec.best[0]), this.y(this.spec.best[1]), 6, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  drawCursor(context) {
    if (cursor !== null) {
      const { y, height } = this.plot;
      context.strokeStyle = themed("accent");
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(this.x(cursor), y);
      context.lineTo(this.x(cursor), y + height);
      context.stroke();
    }
  }

  // Without a cursor: the end of every line.
  fillReadout() {
    const at = cursor === null ? this.steps.at(-1)[0] : nearest(this.steps, cursor)[0];
    this.readout.replaceChildren(make("span", `step ${stepNumber(at)}`));
    for (const series of this.read) {
      const [, value] = nearest(series.points, at);
      const entry = make("span", "");
      const key = make("i", "", { class: `key ${series.kind}` });
      key.style.borderColor = `var(--${series.colour})`;
      entry.append(key, `${series.name} `, make("b", short(value)));
      this.readout.append(" ", entry);
    }
    if (this.spec.best) {
      const [step, value] = this.spec.best;
      this.readout.append(" ", make("span", `○ best ${short(value)} at ${stepNumber(step)}`));
    }
    this.canvas.dataset.step = at;
  }
}

const charts = learning.charts.map((spec) => new Chart(spec));
const drawCharts = () => charts.forEach((chart) => chart.draw());

function readOff(step) {
  if (step !== cursor) {
    cursor = step;
    drawCharts();
  }
}

$("charts").append(...charts.map((chart) => chart.figure));
$("marks").append(...learning.marks.map((mark) => make("li", `Step ${stepNumber(mark.step)}: ${mark.text}`)));
$("marks-box").hidden = !learning.marks.length;
redraws.push(drawCharts);
new ResizeObserver(drawCharts).observe($("charts"));
