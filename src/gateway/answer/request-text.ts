import { utf8Bytes } from '../../kernel/codec/text.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../kernel/json/measure.js'
import { jsonTextInSteps } from '../../kernel/json/text-in-steps.js'
import { memberText } from '../../kernel/json/text.js'
import type { FieldText } from '../../kernel/spill/spill.js'

/** In bytes. */
const LONG = 262_144

type Members = Readonly<Record<string, string | undefined>>

/** A request as JSON. Each member is serialised and measured once, for the estimate, the record and every upstream. */
export class RequestText {
  readonly members: Members
  private readonly bytes: ReadonlyMap<string, number>

  constructor(given: JsonObject, known: Members = {}) {
    const members = Object.keys(given).map((key) => [key, known[key] ?? memberText(given, key)] as const)
    this.members = Object.fromEntries(members)
    this.bytes = new Map(members.map(([key, text]) => [key, utf8Bytes(text)]))
  }

  /** Long members are serialised in steps. */
  static async of(given: JsonObject): Promise<RequestText> {
    const long: [string, string][] = []
    for (const [key, value] of Object.entries(given))
      if (jsonBytesAtMost(value, LONG) > LONG) long.push([key, await jsonTextInSteps(value)])
    return new RequestText(given, Object.fromEntries(long))
  }

  bytesOf(key: string): number {
    return this.bytes.get(key) ?? 0
  }

  /** The JSON of the request as received. */
  get whole(): FieldText {
    let bytes = 1 + Math.max(1, this.bytes.size)
    for (const [key, size] of this.bytes) bytes += utf8Bytes(JSON.stringify(key)) + 1 + size
    return { text: this.with({}), bytes }
  }

  /** The JSON of the request with some members replaced, or left out where undefined. */
  with(changed: Members): string {
    const members = Object.entries({ ...this.members, ...changed })
      .filter(([, text]) => text !== undefined)
      .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
    return `{${members.join(',')}}`
  }
}
