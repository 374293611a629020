import { USER_AGENT, type UpstreamClient } from '../../domain/gateway/upstreams/upstream-client.js'
import { backoff } from '../../kernel/backoff.js'
import type { HealthReports } from '../../kernel/ports/health.js'
import type { LogTree, SignedCheckpoint } from '../../kernel/ports/log-tree.js'
import { consistencyPath, withTiles } from '../../kernel/tlog/merkle.js'
import { openNote, type Witness } from '../../kernel/tlog/note.js'

export interface WitnessingPorts {
  readonly witnesses: readonly Witness[]
  readonly client: UpstreamClient
  readonly tile: LogTree['tile']
  readonly health: HealthReports
  /** Gets each verified signature line. */
  readonly onCosigned: (checkpoint: SignedCheckpoint, line: string) => Promise<void>
}

interface Witnessing {
  /** Asks every witness that has not cosigned the checkpoint, in the background. One that is busy gets the latest next. */
  readonly ask: (checkpoint: SignedCheckpoint) => void
  readonly stop: () => Promise<void>
}

const BACKOFF = { firstMs: 1000, maxMs: 300_000, ref: false }
const TIMEOUTS = { connect_ms: 3000, first_byte_ms: 5000, idle_ms: 5000, total_ms: 10_000 }
const MAX_ANSWER_BYTES = 65_536

/** Asks witnesses to cosign checkpoints, each on its own, so that none waits for another. */
export const askWitnesses = (ports: WitnessingPorts): Witnessing => {
  const { witnesses, client, health, onCosigned } = ports
  const stopping = new AbortController()
  const { signal } = stopping
  const failures = new Map<string, string>()
  let latest: SignedCheckpoint | undefined

  const report = (name: string, error: Error | null) => {
    if (error === null) failures.delete(name)
    else failures.set(name, `${name}: ${error.message}`)
    health.report('log-witnesses', failures.size === 0 ? null : new Error([...failures.values()].join('; ')))
  }

  const followers = witnesses.map((witness) => {
    const { name } = witness.key
    const cosignatureOf = cosigning(ports, witness)
    let cosigned = 0
    let isAsking = false
    const missing = () =>
      signal.aborted ||
      latest === undefined ||
      latest.size === cosigned ||
      latest.note.includes(`\n— ${name} `)
        ? undefined
        : latest

    const ask = async () => {
      let failed = 0
      for (let next = missing(); next !== undefined; next = missing())
        try {
          await onCosigned(next, await cosignatureOf(next, signal))
          cosigned = next.size
          failed = 0
          report(name, null)
        } catch (error) {
          failed += 1
          // An abort at a stop is no failure.
          if (!signal.aborted) report(name, error as Error)
          await backoff(failed, { ...BACKOFF, signal })
        }
      isAsking = false
    }
    let asking = Promise.resolve()
    return {
      ask: () => {
        if (isAsking) return
        isAsking = true
        asking = ask()
      },
      asked: () => asking,
    }
  })

  return {
    ask: (checkpoint) => {
      latest = checkpoint
      for (const follower of followers) follower.ask()
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(followers.map(({ asked }) => asked()))
      await client.close()
    },
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  403: 'it does not know the key of the log',
  404: 'it does not know the log',
  409: 'it has another tree of this size',
  422: 'it refuses the proof that the log continues what it cosigned',
}

/** Returns a function that gets the cosignature line of one witness. It throws if the witness gives no valid one. */
const cosigning = ({ client, tile }: Pick<WitnessingPorts, 'client' | 'tile'>, { key, address }: Witness) => {
  /** The size that it cosigned last. After a start it is not known; then the witness answers with it. */
  let known = 0

  const send = async ({ size, note }: SignedCheckpoint, signal: AbortSignal) => {
    const hashes = await withTiles(tile, (read) => consistencyPath(known, size, read))
    const path = hashes.map((hashed) => hashed.toString('base64'))
    const { status, body } = await client.ask(
      {
        url: `${address}/add-checkpoint`,
        headers: { 'content-type': 'text/plain; charset=utf-8', 'user-agent': USER_AGENT },
        body: [`old ${known}`, ...path, '', note].join('\n'),
        timeouts: TIMEOUTS,
        isGuarded: false,
        isFresh: false,
      },
      signal,
    )
    return { status, text: await textIn(body) }
  }

  return async (checkpoint: SignedCheckpoint, signal: AbortSignal): Promise<string> => {
    const { size, note } = checkpoint
    let answer = await send(checkpoint, signal)
    if (answer.status === 409 && /^\d{1,15}\n?$/.test(answer.text)) {
      const cosigned = Number(answer.text)
      if (cosigned > size)
        throw new Error(
          `it has cosigned ${cosigned} events of this log, which has ${size}: the log was restored from an older backup`,
        )
      known = cosigned
      answer = await send(checkpoint, signal)
    }
    if (answer.status !== 200) throw new Error(REFUSALS[answer.status] ?? `it answered ${answer.status}`)
    const text = note.slice(0, note.indexOf('\n\n') + 2)
    const lines = answer.text.match(/^— .+\n/gm) ?? []
    const [signature] = openNote(text + lines.join(''), [key]).signatures
    known = size
    return `${signature!.line}\n`
  }
}

const textIn = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('its answer is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
