/** A null cell is empty, an empty text is `""`. */
export type CsvCell = { readonly text: string } | { readonly plain: string } | null

/** Lines of RFC 4180, the header first. Plain cells, such as numbers and times, are written unquoted. */
export const csvText = (header: readonly string[], rows: readonly (readonly CsvCell[])[]): string =>
  `${header.map((name) => quoted(name)).join(',')}\r\n${csvLines(rows)}`

/** Lines without a header. */
export const csvLines = (rows: readonly (readonly CsvCell[])[]): string =>
  rows.map((cells) => `${lineOf(cells)}\r\n`).join('')

const lineOf = (cells: readonly CsvCell[]): string => {
  const line = cells
    .map((cell) => (cell === null ? '' : 'plain' in cell ? cell.plain : quoted(cell.text)))
    .join(',')
  // Readers skip empty lines.
  return line === '' ? '""' : line
}

const quoted = (text: string): string => {
  const safe = IS_FORMULA.test(text) ? `'${text}` : text
  return safe === '' || /[",\r\n]/.test(safe) || safe !== safe.trim()
    ? `"${safe.replaceAll('"', '""')}"`
    : safe
}

/** What spreadsheets run as a formula, also after blanks and in full-width letters. */
const IS_FORMULA = /^[\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/
