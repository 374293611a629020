import type { AnswerBuilder } from '../answer/answer-builder.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Spool, Spools } from '../../kernel/ports/spools.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import { encoded } from './encoded.js'
import type { Output } from './output.js'
import { within } from '../../kernel/within.js'

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
