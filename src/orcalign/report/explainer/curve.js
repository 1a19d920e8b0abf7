// The reward curve with its marked stretches.

const KINDS = {
  stall: { name: "Stalled", letter: "=" },
  skip: { name: "Skipped", letter: "»" },
  backwards: { name: "Backwards", letter: "«" },
};

class Curve {
  constructor(canvas) {
    this.canvas = canvas;
  }

  set(result, T) {
    this.reward = result.reward;
    this.spans = result.story.spans;
    this.kinds = Object.keys(KINDS).filter((kind) => this.spans.some((span) => span.kind === kind));
    this.T = T;
    this.low = this.reward.reduce((least, value) => Math.min(least, value), 0);
    this.high = this.reward.reduce((most, value) => Math.max(most, value), 0);
    if (this.high === this.low) {
      this.high = this.low + 1;
    }
    this.canvas.style.height = `${160 + 16 * this.kinds.length}px`;
  }

  x(frame) {
    return this.plot.x + (this.T > 1 ? frame / (this.T - 1) : 0) * this.plot.width;
  }

  y(reward) {
    return this.plot.y + ((this.high - reward) / (this.high - this.low)) * this.plot.height;
  }

  frameAt(event) {
    const share = (event.clientX - this.canvas.getBoundingClientRect().left - this.plot.x) / this.plot.width;
    return Math.round(Math.min(Math.max(share, 0), 1) * (this.T - 1));
  }

  draw(t) {
    const { context, width } = crisp(this.canvas);
    const root = getComputedStyle(document.documentElement);
    const left = parseFloat(root.getPropertyValue("--plot-left"));
    const right = parseFloat(root.getPropertyValue("--plot-right"));
    this.plot = { x: left, y: 10, width: width - left - right, height: 110 };
    const lanes = this.plot.y + this.plot.height + 4;
    const bottom = lanes + 16 * this.kinds.length;
    this.drawAxes(context, bottom);
    for (const span of this.spans) {
      this.drawSpan(context, span, lanes + 16 * this.kinds.indexOf(span.kind));
    }
    this.drawLine(context);
    this.drawMarker(context, t, bottom);
    this.canvas.dataset.marker = t;
  }

  drawAxes(context, bottom) {
    const { x, y, width, height } = this.plot;
    context.strokeStyle = themed("line");
    context.lineWidth = 1;
    context.fillStyle = themed("quiet");
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of new Set([this.low, 0, this.high])) {
      const at = Math.round(this.y(value)) + 0.5;
      context.beginPath();
      context.moveTo(x, at);
      context.lineTo(x + width, at);
      context.stroke();
      // 0 is left out where another number already stands.
      if (value !== 0 || Math.min(Math.abs(at - y), Math.abs(at - y - height)) > 14 || this.low * this.high === 0) {
        context.fillText(short(value), x - 6, at);
      }
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    const step = niceStep(this.T, width / 48);
    for (let k = 0; k < this.T; k += step) {
      context.fillText(k, this.x(k), bottom + 4);
    }
    context.fillText("learner frame →", x + width / 2, bottom + 19);
    context.save();
    context.translate(2, y + height / 2);
    context.rotate(-Math.PI / 2);
    context.fillText("reward", 0, 0);
    context.restore();
  }

  drawSpan(context, span, lane) {
    const from = this.x(span.start);
    const wide = Math.max(this.x(Math.max(span.stop - 1, span.start)) - from, 4);
    context.fillStyle = themed(span.kind);
    context.globalAlpha = 0.16;
    context.fillRect(from, this.plot.y, wide, this.plot.height);
    context.globalAlpha = 1;
    context.fillRect(from, lane, wide, 13);
    if (wide > 12) {
      context.fillStyle = themed("ground");
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillText(KINDS[span.kind].letter, from + wide / 2, lane + 6.5);
    }
  }

  drawLine(context) {
    context.strokeStyle = themed("ink");
    context.lineWidth = 2;
    context.lineJoin = "round";
    context.beginPath();
    this.reward.forEach((value, frame) => context.lineTo(this.x(frame), this.y(value)));
    context.stroke();
  }

  drawMarker(context, t, bottom) {
    const x = this.x(t);
    context.strokeStyle = context.fillStyle = themed("accent");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, bottom);
    context.stroke();
    context.beginPath();
    context.arc(x, this.y(this.reward[t]), 5, 0, 2 * Math.PI);
    context.fill();
  }
}
