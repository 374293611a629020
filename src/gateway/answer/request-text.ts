import { utf8Bytes } from '../../kernel/codec/text.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { memberText } from '../../kernel/json/text.js'

type Members = Readonly<Record<string, string | undefined>>

/** A request as JSON. Each member is serialised once, for the estimate, the record and every upstream. */
export class RequestText {
  private readonly members: Members

  constructor(given: JsonObject) {
    this.members = Object.fromEntries(Object.keys(given).map((key) => [key, memberText(given, key)]))
  }

  bytesOf(key: string): number {
    return utf8Bytes(this.members[key] ?? '')
  }

  /** The JSON of the request with some members replaced, or left out where undefined. */
  with(changed: Members = {}): string {
    const members = Object.entries({ ...this.members, ...changed })
      .filter(([, text]) => text !== undefined)
      .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
    return `{${members.join(',')}}`
  }
}
