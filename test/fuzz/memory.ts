import fc from 'fast-check'
import { isJsonObject } from '../../src/domain/json/json.js'
import { singular } from '../support/described/arbitrary-of-schema.js'

const MOST_A_KEY = 60
const LONGEST = 300

/**
 * What was answered or accepted, by the key under which it stood, so that later requests can speak of it. Some words
 * are never learnt, lest the one who asks takes their own key away.
 */
export class Memory {
  readonly #words = new Map<string, string[]>()
  readonly #secrets: ReadonlySet<string>

  constructor(secrets: ReadonlySet<string>) {
    this.#secrets = secrets
  }

  learn(value: unknown, key = ''): void {
    if (typeof value === 'string') this.#note(key, value)
    else if (Array.isArray(value)) for (const item of value.slice(0, 20)) this.learn(item, singular(key))
    else if (isJsonObject(value))
      for (const [name, member] of Object.entries(value).slice(0, 40)) this.learn(member, name)
  }

  /** Words that stood under this key, or under one that ends like it: `id` for `parent_ids`. */
  readonly known = (key: string): fc.Arbitrary<string> | undefined => {
    const names = [singular(key), singular(key.slice(key.lastIndexOf('_') + 1))].filter((name) => name !== '')
    if (names.length === 0) return undefined
    return fc.nat().map((choice) => {
      const words = names.flatMap((name) => this.#words.get(name) ?? [])
      return words[choice % (words.length || 1)] ?? 'unknown'
    })
  }

  #note(key: string, word: string): void {
    if (word.length === 0 || word.length > LONGEST || this.#secrets.has(word)) return
    const name = singular(key)
    const words = this.#words.get(name)
    if (words === undefined) this.#words.set(name, [word])
    else if (!words.includes(word)) {
      if (words.length >= MOST_A_KEY) words.shift()
      words.push(word)
    }
  }
}
