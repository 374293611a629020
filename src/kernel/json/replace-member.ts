/**
 * The JSON text of an object with the string at a path of members replaced, and every other character kept. Unchanged
 * without such a member. The text has to be valid.
 */
export const withText = (json: string, path: readonly string[], value: string): string => {
  const scan = new Scan(json)
  const [from, to] = scan.valueAt(path) ?? [0, 0]
  return to === 0 ? json : `${json.slice(0, from)}${JSON.stringify(value)}${json.slice(to)}`
}

const BLANK = /[ \t\r\n]*/y
const LITERAL = /[^,\]}\s]*/y
/** What is outside of strings and brackets. */
const FILLING = /[^"[\]{}]*/y

class Scan {
  private at = 0

  constructor(private readonly json: string) {}

  /** Where the value is; undefined if it is no string. Of equal names the last one counts, as for parsers. */
  valueAt([name, ...rest]: readonly string[]): readonly [from: number, to: number] | undefined {
    let found: readonly [number, number] | undefined
    this.skip(BLANK)
    if (this.json[this.at] !== '{') return undefined
    for (this.at += 1; ;) {
      this.skip(BLANK)
      if (this.json[this.at] !== '"') return found
      const key = this.string()
      this.skip(BLANK)
      this.at += 1
      this.skip(BLANK)
      const from = this.at
      if ((key.includes('\\') ? JSON.parse(key) : key.slice(1, -1)) === name) {
        if (rest.length > 0) found = new Scan(this.json).from(from).valueAt(rest)
        else found = this.json[from] === '"' ? [from, this.endOf(from)] : undefined
      }
      this.at = this.endOf(from)
      this.skip(BLANK)
      if (this.json[this.at] !== ',') return found
      this.at += 1
    }
  }

  private from(at: number): this {
    this.at = at
    return this
  }

  private skip(pattern: RegExp): void {
    pattern.lastIndex = this.at
    pattern.test(this.json)
    this.at = pattern.lastIndex
  }

  /** The string here, as it is written. */
  private string(): string {
    const from = this.at
    for (this.at += 1; this.at < this.json.length; this.at += 1) {
      const unit = this.json[this.at]
      if (unit === '\\') this.at += 1
      else if (unit === '"') break
    }
    this.at += 1
    return this.json.slice(from, this.at)
  }

  private endOf(from: number): number {
    this.at = from
    let depth = 0
    do {
      const unit = this.json[this.at]
      if (unit === undefined) break
      if (unit === '"') this.string()
      else if (unit === '{' || unit === '[') {
        depth += 1
        this.at += 1
      } else if (unit === '}' || unit === ']') {
        depth -= 1
        this.at += 1
      } else if (depth === 0) this.skip(LITERAL)
      else this.skip(FILLING)
    } while (depth > 0)
    return this.at
  }
}
