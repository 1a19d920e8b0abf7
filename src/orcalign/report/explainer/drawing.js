// Numbers as text, and drawing that all plots of a page share.

function short(value) {
  if (value === null || value === undefined) {
    return "–";
  }
  const size = Math.abs(value);
  if (size === 0) {
    return "0";
  }
  if (size < 0.001 || size >= 100000) {
    return value.toExponential(1).replace("-", "−").replace("e-", "e−").replace("e+", "e");
  }
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3).replace("-", "−");
}

function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// A canvas cleared and scaled so that one unit is one CSS pixel, sharp on every screen.
function crisp(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px system-ui, sans-serif";
  return { context, width, height };
}

function niceStep(count, most) {
  for (let scale = 1; ; scale *= 10) {
    for (const step of [1, 2, 5]) {
      if (count / (step * scale) <= most) {
        return step * scale;
      }
    }
  }
}

// Text that is cut off where there is no more room.
function fitted(context, text, room) {
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > room) {
    shown = `${shown.slice(0, -2).trimEnd()}…`;
  }
  return shown;
}

// Words below the cells of a plot, each in its own width.
function drawNames(context, plot, names, title) {
  const room = plot.width / names.length;
  context.fillStyle = themed("quiet");
  context.textAlign = "center";
  context.textBaseline = "top";
  names.forEach((name, k) => {
    context.fillText(fitted(context, name, room - 6), plot.x + (k + 0.5) * room, plot.y + plot.height + 5);
  });
  context.fillText(`${title} →`, plot.x + plot.width / 2, plot.y + plot.height + 20);
}

// Frame numbers below the plot, or left of it; a frame's number stands at the middle of its cell.
function drawTicks(context, plot, count, title, upright) {
  const length = upright ? plot.height : plot.width;
  const step = niceStep(count, length / (upright ? 34 : 48));
  context.fillStyle = themed("quiet");
  context.textAlign = upright ? "right" : "center";
  context.textBaseline = upright ? "middle" : "top";
  for (let k = 0; k < count; k += step) {
    const at = ((k + 0.5) / count) * length;
    if (upright) {
      context.fillText(k, plot.x - 6, plot.y + Math.max(at, 6));
    } else {
      context.fillText(k, plot.x + at, plot.y + plot.height + 5);
    }
  }
  if (upright) {
    context.save();
    context.translate(4, plot.y + plot.height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillText(`← ${title}`, 0, 0); // turned: the arrow points down, as the numbers run
    context.restore();
  } else {
    context.fillText(`${title} →`, plot.x + plot.width / 2, plot.y + plot.height + 20);
  }
}
