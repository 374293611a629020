/** What an append expects of its stream; a number is its last revision. */
export type ExpectedOnTheWire = 'any' | 'no_stream' | 'stream_exists' | bigint

/** Why an append or a deletion was not taken. */
export type Refused = Conflict | Deleted

export class Conflict extends Error {
  override readonly name = 'Conflict'
  constructor(
    readonly stream: string,
    readonly expected: ExpectedOnTheWire,
    /** The last revision; undefined for no stream. */
    readonly actual: number | undefined,
  ) {
    super('wrong expected version')
  }
}

export class Deleted extends Error {
  override readonly name = 'Deleted'
  constructor(readonly stream: string) {
    super('stream deleted')
  }
}

export const conflict = (stream: string, expected: ExpectedOnTheWire, actual: number | undefined): Conflict =>
  new Conflict(stream, expected, actual)

export const deleted = (stream: string): Deleted => new Deleted(stream)
