import type { SpoolRange } from '../answer/buffered-text.js'
import type { Spool } from '../../kernel/ports/spools.js'

const CHUNK_BYTES = 65_536

/** Text and what lies in a spool between, in UTF-8, in chunks that are worth writing. */
export async function* encoded(
  parts: Iterable<string | SpoolRange>,
  spool: Spool | undefined,
): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of piecesOf(parts, spool)) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes < CHUNK_BYTES) continue
    yield Buffer.concat(pieces)
    pieces = []
    bytes = 0
  }
  yield Buffer.concat(pieces)
}

async function* piecesOf(
  parts: Iterable<string | SpoolRange>,
  spool: Spool | undefined,
): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    if (typeof part === 'string') yield Buffer.from(part, 'utf8')
    else if (spool !== undefined) yield* spool.read(part.offset, part.length)
}
