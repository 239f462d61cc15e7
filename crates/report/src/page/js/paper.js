// As much of a document as the pictures need, for where there is no browser: elements that hold attributes and text, and what they are
// as text. `style` is the page's style.

class Piece {
  constructor(tag) {
    this.tag = tag;
    this.attributes = new Map();
    this.children = [];
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  append(...children) {
    this.children.push(...children);
  }
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#xA;", "\r": "&#xD;" };
const escaped = (text, these) => String(text).replace(these, (character) => ESCAPES[character]);

function pieceText(piece) {
  if (!(piece instanceof Piece)) return escaped(piece, /[&<>]/g);
  const attributes = [...piece.attributes].map(([name, value]) => ` ${name}="${escaped(value, /[&<>"\t\n\r]/g)}"`).join("");
  const start = `<${piece.tag}${attributes}`;
  return piece.children.length ? `${start}>${piece.children.map(pieceText).join("")}</${piece.tag}>` : `${start}/>`;
}

class XMLSerializer {
  serializeToString(piece) {
    return pieceText(piece);
  }
}

const document = { createElementNS: (_, tag) => new Piece(tag), querySelector: () => ({ textContent: style }) };
/** On paper all is light. */
const getComputedStyle = () => ({ colorScheme: "light" });
