import { Failure } from './failure.js'

const LIMITS = {
  items: { most: 20_000, of: 'items of lists', hint: 'Ask for smaller pages.' },
  reads: { most: 2000, of: 'lists', hint: 'Ask for smaller pages, or in several requests.' },
  rows: {
    most: 250_000,
    of: 'rows of histories',
    hint: 'Ask for fewer samples or specs, or in several requests.',
  },
  /** Nine bytes each, held while the rows are chosen. Enough for 20 keys of 1,000,000 rows. */
  values: {
    most: 32_000_000,
    of: 'values of histories',
    hint: 'Ask for fewer keys or steps, or in several requests.',
  },
  /** The answer is held in memory. */
  text: {
    most: 64 * 1024 * 1024,
    of: 'characters of histories',
    hint: 'Ask for fewer steps at once, such as with scan_history(page_size=100).',
  },
} as const

/** What one request may read over all of its fields. Spent before the work is done; text as the answer grows. */
export class ReadBudget {
  private readonly spent = { items: 0, reads: 0, rows: 0, values: 0, text: 0 }
  private refused: Failure | undefined

  /** Once it is refused, so is all later work of the request. */
  get refusal(): Failure | undefined {
    return this.refused
  }

  /** @throws Failure for a request that asks for too much */
  spend(kind: keyof typeof LIMITS, amount: number): void {
    this.spent[kind] += amount
    const { most, of, hint } = LIMITS[kind]
    if (this.spent[kind] > most)
      this.refused ??= new Failure('bad-request', `A request may read at most ${most} ${of}. ${hint}`)
    if (this.refused !== undefined) throw this.refused
  }
}
