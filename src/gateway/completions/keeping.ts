import type { AnswerBuilder } from '../answer/answer-builder.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Spool, Spools } from '../../kernel/ports/spools.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import { within } from '../../kernel/within.js'
import type { SpoolRange } from '../answer/buffered-text.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { SpilledFields } from '../../kernel/spill/fields.js'

/** A streamed answer that is kept for its record, in little memory. None of it ever fails. */
export interface Kept {
  /** Makes room in memory for what comes, where that is needed. */
  readonly makeRoom: () => Promise<void> | undefined
  /** Once, after its end: all of it, or its beginning where the disk failed or all is to be quick. */
  readonly output: (isQuick: boolean) => Promise<Output>
}

export type Keeping = (answer: AnswerBuilder) => Kept

interface KeepingPorts extends Pick<Ports, 'blobs'> {
  readonly spools: Spools
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** So many answers are read back at a time, that memory holds parts of no more; the others wait in their spools. */
const AT_ONCE = 8

/** Keeps long answers in spools while they come, and then in blobs. */
export const openKeeping = ({ blobs, spools, log }: KeepingPorts, patienceMs = PATIENCE_MS): Keeping => {
  const mutex = new KeyedMutex()
  const disk = failing(log)
  let ended = 0

  return (answer) => {
    const { memory } = answer
    let opening: Promise<Spool> | undefined
    let isBroken = false

    const append = async (bytes: Uint8Array) => {
      const spool = await (opening ??= spools.open())
      await spool.append(bytes)
      return true
    }

    const makeRoom = async () => {
      const bytes = memory.drain()
      if (bytes.length === 0) return
      try {
        if ((await within(patienceMs, append(bytes))) === undefined) throw new TooSlow()
      } catch (error) {
        isBroken = true
        memory.close()
        disk.failed(error)
      }
    }

    const stored = async (): Promise<Output> => {
      const whole = encoded(answer.jsonParts(), await opening)
      const { digest, size } = await blobs.putStream(whole, Number.MAX_SAFE_INTEGER)
      disk.worked()
      return { output: null, spilled: { output: { digest, size, canonical: digest } } }
    }

    return {
      makeRoom: () => (memory.isDue ? makeRoom() : undefined),
      output: async (isQuick) => {
        try {
          if (memory.hasRest && !isBroken && !isQuick)
            return await mutex.runExclusive(String((ended += 1) % AT_ONCE), stored)
        } catch (error) {
          disk.failed(error)
        } finally {
          void opening?.then((spool) => spool.close()).catch(() => undefined)
        }
        return { output: answer.headValue(), spilled: {} }
      },
    }
  }
}

/** A disk that takes longer than this for a piece of an answer has failed, in milliseconds. */
const PATIENCE_MS = 5000

class TooSlow extends Error {
  override readonly name = 'TooSlow'
}

/** Says when the disk begins to fail and when it works again, not each time. */
const failing = (log: KeepingPorts['log']) => {
  let isFailing = false
  return {
    failed: (error: unknown) => {
      if (!isFailing)
        log.warn('gateway.recording_truncated', { name: error instanceof Error ? error.name : '' })
      isFailing = true
    },
    worked: () => {
      if (isFailing) log.info('gateway.recording_recovered')
      isFailing = false
    },
  }
}

const CHUNK_BYTES = 65_536

/** Text and what lies in a spool between, in UTF-8, in chunks that are worth writing. */
async function* encoded(
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

/** What the end of a call says that it put out: itself, or in which blob it lies. */
export interface Output {
  readonly output: JsonObject | null
  readonly spilled: SpilledFields
}

export const nothing: Output = { output: null, spilled: {} }

/** What is at hand as a whole. */
export const atHand =
  (output: JsonObject | null): (() => Promise<Output>) =>
  () =>
    Promise.resolve({ output, spilled: {} })
