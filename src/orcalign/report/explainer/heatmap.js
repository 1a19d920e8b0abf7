// A matrix of learner frames (down) against demo frames (across), drawn with its axes.

// From dark blue over grey to yellow, brightness rising evenly: told apart with any kind of colour vision.
const COLOURS = [
  [0, 32, 76], [24, 56, 107], [60, 77, 109], [87, 97, 112], [113, 118, 118],
  [141, 139, 120], [171, 163, 115], [205, 189, 98], [255, 232, 68],
];

function colour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (COLOURS.length - 1);
  const k = Math.min(Math.floor(place), COLOURS.length - 2);
  return COLOURS[k].map((from, c) => Math.round(from + (COLOURS[k + 1][c] - from) * (place - k)));
}

const PALETTE = Array.from({ length: 256 }, (_, k) => colour(k / 255));

function colourBar() {
  const stops = COLOURS.map((c) => `rgb(${c.join(" ")})`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

class Matrix {
  // T and J count the frames; the data may hold fewer rows and columns, evenly chosen.
  constructor(data, T, J) {
    Object.assign(this, data, { T, J });
    const bytes = Uint8Array.from(atob(data.data), (letter) => letter.charCodeAt(0));
    this.steps = bytes;
    if (data.bits === 16) {
      const view = new DataView(bytes.buffer);
      this.steps = Uint16Array.from({ length: bytes.length / 2 }, (_, k) => view.getUint16(2 * k, true));
    }
  }

  share(row, column) {
    return this.steps[row * this.columns + column] / (2 ** this.bits - 1);
  }

  value(row, column) {
    const share = this.share(row, column);
    if (this.log) {
      return this.low * (this.high / this.low) ** share;
    }
    return this.low * (1 - share) + this.high * share;
  }

  text(row, column) {
    if (this.log && this.steps[row * this.columns + column] === 0) {
      return `at most ${short(this.low)}`;
    }
    return (this.bits === 8 ? "about " : "") + short(this.value(row, column));
  }

  thinned() {
    return this.rows < this.T || this.columns < this.J;
  }
}

// The same whole-number formula as the one that chose the rows: frame of a kept row, and the row nearest a frame.
function keptFrame(k, kept, count) {
  const steps = Math.max(kept - 1, 1);
  return Math.floor((2 * k * (count - 1) + steps) / (2 * steps));
}

function keptIndex(frame, kept, count) {
  return count > 1 ? Math.round((frame * (kept - 1)) / (count - 1)) : 0;
}

class Heatmap {
  // `names` has a word for each demo frame, where there is one: of goals that were said in words.
  constructor(canvas, reversed, names) {
    this.canvas = canvas;
    this.reversed = reversed;
    this.names = names;
    this.image = document.createElement("canvas");
    this.margin = { left: 50, right: 12, top: 6, bottom: 36 };
  }

  set(matrix) {
    this.matrix = matrix;
    this.image.width = matrix.columns;
    this.image.height = matrix.rows;
    const context = this.image.getContext("2d");
    const pixels = context.createImageData(matrix.columns, matrix.rows);
    for (let row = 0; row < matrix.rows; row++) {
      for (let column = 0; column < matrix.columns; column++) {
        const share = matrix.share(row, column);
        const [red, green, blue] = PALETTE[Math.round(255 * (this.reversed ? 1 - share : share))];
        const at = 4 * (row * matrix.columns + column);
        pixels.data[at] = red;
        pixels.data[at + 1] = green;
        pixels.data[at + 2] = blue;
        pixels.data[at + 3] = 255;
      }
    }
    context.putImageData(pixels, 0, 0);
  }

  draw(t, j, cell) {
    const { context, width, height } = crisp(this.canvas);
    const { left, right, top, bottom } = this.margin;
    const plot = { x: left, y: top, width: width - left - right, height: height - top - bottom };
    this.plot = plot;
    context.imageSmoothingEnabled = plot.width < this.image.width || plot.height < this.image.height;
    context.drawImage(this.image, plot.x, plot.y, plot.width, plot.height);
    const { T, J } = this.matrix;
    if (this.names) {
      drawNames(context, plot, this.names, "goal");
    } else {
      drawTicks(context, plot, J, "demo frame", false);
    }
    drawTicks(context, plot, T, "learner frame", true);

    const rowHeight = plot.height / T;
    const columnWidth = plot.width / J;
    const y = plot.y + (t + 0.5) * rowHeight;
    const x = plot.x + (j + 0.5) * columnWidth;
    const half = Math.max(rowHeight / 2, 1) + 2; // around the row, which stays in sight
    // Black around white: seen on every colour of the map.
    for (const [style, thick] of [["#000", 3], ["#fff", 1.5]]) {
      context.strokeStyle = style;
      context.lineWidth = thick;
      context.strokeRect(plot.x, y - half, plot.width, 2 * half);
      context.beginPath();
      context.arc(x, y, 5, 0, 2 * Math.PI);
      context.stroke();
      if (cell) {
        const cellX = plot.x + (cell.j + 0.5) * columnWidth;
        const cellY = plot.y + (cell.t + 0.5) * rowHeight;
        context.strokeRect(cellX - 5, cellY - 5, 10, 10);
      }
    }
    this.canvas.dataset.row = t;
    this.canvas.dataset.column = j;
  }

  // The cell under a pointer, or nothing outside the plot.
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const { x, y, width, height } = this.plot;
    const across = (event.clientX - box.left - x) / width;
    const down = (event.clientY - box.top - y) / height;
    if (across < 0 || across >= 1 || down < 0 || down >= 1) {
      return null;
    }
    return this.cell(Math.floor(down * this.matrix.T), Math.floor(across * this.matrix.J));
  }

  // The kept cell nearest to a pair of frames.
  cell(t, j) {
    const { T, J, rows, columns } = this.matrix;
    const row = keptIndex(t, rows, T);
    const column = keptIndex(j, columns, J);
    return { row, column, t: keptFrame(row, rows, T), j: keptFrame(column, columns, J) };
  }
}
