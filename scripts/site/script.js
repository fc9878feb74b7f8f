// Search, theme, menu, and buttons that copy. The pages can be read without any of it.

const up = document.body.dataset.up
const byId = id => document.getElementById(id)

// Theme: as the system has it, until the button says otherwise.
byId("theme").addEventListener("click", () => {
  const root = document.documentElement
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches
  root.dataset.theme = isDark ? "light" : "dark"
  try { localStorage.setItem("theme", root.dataset.theme) } catch {}
})

// The menu of narrow windows.
byId("menu-button").addEventListener("click", event => {
  const isOpen = byId("menu").classList.toggle("open")
  event.currentTarget.setAttribute("aria-expanded", isOpen)
})
byId("menu").querySelector("[aria-current]")?.scrollIntoView({ block: "center" })
scrollTo(0, 0)

// Of a terminal only what is typed is copied.
function textOf(button) {
  if (button.dataset.text) return button.dataset.text
  const code = button.closest(".code").querySelector("code")
  const typed = [...code.querySelectorAll("b")].map(b => b.textContent)
  return code.querySelector(".gp") && typed.length ? typed.join("\n") : code.textContent
}

async function copy(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.body.appendChild(document.createElement("textarea"))
  area.value = text
  area.select()
  document.execCommand("copy")
  area.remove()
}

for (const button of document.querySelectorAll("button.copy")) {
  const label = button.textContent
  button.addEventListener("click", async () => {
    await copy(textOf(button))
    button.textContent = "Copied"
    setTimeout(() => { button.textContent = label }, 1200)
  })
}

// Search. The index is a script, so that it loads from a folder as from a server.
const field = byId("search"), results = byId("results")
let index = null, chosen = -1

window.searchIndex = loaded => {
  const words = text => text.toLowerCase().split(/[^a-z0-9_]+/).filter(Boolean)
  index = loaded.records.map(([page, anchor, title, text]) => ({
    address: loaded.pages[page][0] + (anchor && "#" + anchor), page: loaded.pages[page][1],
    title, text, lower: text.toLowerCase(), name: title.toLowerCase(),
    titleWords: words(title), pageWords: words(loaded.pages[page][1]),
  }))
  show()
}

function load() {
  if (index || document.querySelector("script[data-index]")) return
  const script = document.createElement("script")
  script.src = up + "search-index.js"
  script.dataset.index = ""
  document.head.append(script)
}

function score(record, words, query) {
  let total = record.name.startsWith(query) ? 40 : record.name.includes(query) ? 20 : 0
  for (const word of words) {
    let best = 0
    if (record.titleWords.includes(word)) best = 12
    else if (record.titleWords.some(one => one.startsWith(word))) best = 8
    else if (record.pageWords.some(one => one.startsWith(word))) best = 4
    if (record.lower.includes(word)) best += 2
    if (!best) return 0
    total += best
  }
  return total
}

// How many letters differ, for "did you mean"; two that changed places are one. 3 stands for more.
function distance(a, b) {
  if (Math.abs(a.length - b.length) > 2) return 3
  let above = [], row = [...Array(b.length + 1).keys()]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        next[j] = Math.min(next[j], above[j - 2] + 1)
      }
    }
    [above, row] = [row, next]
  }
  return row[b.length]
}

function nearest(word) {
  let found = null, least = word.length > 4 ? 3 : 2
  for (const record of index) {
    for (const one of record.titleWords) {
      const far = distance(word, one)
      if (far < least) [found, least] = [one, far]
    }
  }
  return found
}

function find(query) {
  const words = query.split(/[^a-z0-9_]+/).filter(Boolean)
  if (!words.length) return []
  return index.map(record => [score(record, words, query), record]).filter(([points]) => points)
    .sort(([a], [b]) => b - a).slice(0, 12).map(([, record]) => record)
}

function snippet(record, query) {
  const word = query.split(/[^a-z0-9_]+/).find(one => record.lower.includes(one)) ?? ""
  const at = Math.max(0, record.lower.indexOf(word) - 40)
  return (at ? "…" : "") + record.text.slice(at, at + 110)
}

function show() {
  const query = field.value.trim().toLowerCase()
  results.replaceChildren()
  chosen = -1
  field.removeAttribute("aria-activedescendant")
  if (index && query) {
    const found = find(query)
    for (const [at, record] of found.entries()) {
      const item = row(record.title, record.page === record.title ? "" : record.page,
        snippet(record, query))
      item.id = "result-" + at
      item.dataset.address = record.address
      results.append(item)
    }
    if (!found.length) {
      const word = nearest(query.split(/[^a-z0-9_]+/)[0])
      const item = row(word ? `Did you mean “${word}”?` : "No such words", "", "")
      if (word) item.dataset.word = word
      results.append(item)
    }
  }
  results.hidden = !results.children.length
  field.setAttribute("aria-expanded", !results.hidden)
}

function row(title, page, text) {
  const item = document.createElement("li")
  item.setAttribute("role", "option")
  for (const [name, words] of [["title", title], ["page", page], ["text", text]]) {
    if (!words) continue
    const part = item.appendChild(document.createElement("span"))
    part.className = name
    part.textContent = words
  }
  return item
}

function open(item) {
  if (item.dataset.word) {
    field.value = item.dataset.word
    show()
  } else if (item.dataset.address) {
    results.hidden = true
    location.href = up + item.dataset.address
  }
}

function choose(step) {
  const items = [...results.children]
  if (!items.length) return
  items[chosen]?.removeAttribute("aria-selected")
  chosen = (chosen + step + items.length) % items.length
  items[chosen].setAttribute("aria-selected", "true")
  items[chosen].scrollIntoView({ block: "nearest" })
  field.setAttribute("aria-activedescendant", items[chosen].id)
}

field.addEventListener("focus", load)
field.addEventListener("input", () => { load(); show() })
field.addEventListener("keydown", event => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault()
    choose(event.key === "ArrowDown" ? 1 : -1)
  } else if (event.key === "Enter" && results.children.length) {
    open(results.children[Math.max(chosen, 0)])
  } else if (event.key === "Escape") {
    results.hidden = true
  }
})
results.addEventListener("mousedown", event => {
  event.preventDefault()
  const item = event.target.closest("li")
  if (item) open(item)
})
field.addEventListener("blur", () => { results.hidden = true })
addEventListener("keydown", event => {
  if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
    event.preventDefault()
    field.focus()
  }
})

// A page may be opened with a question: index.html?q=timer.
const asked = new URLSearchParams(location.search).get("q")
if (asked) {
  field.value = asked
  load()
  field.focus()
}
