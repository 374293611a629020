import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openFileBlobStore } from '../adapters/blobs/file-blob-store.js'
import { openLogCopy, type LogCopy } from '../adapters/event-store/sqlite/log-copy.js'
import { openService } from '../composition/log-sources.js'
import type { Config } from '../config.js'
import { OperatorError } from '../domain/ports/operator-error.js'
import type { ModelDigest } from '../projections/digests/queries.js'
import { requireSame } from './copy-log.js'
import { digestsIn, keptDigests, type KeptDigests } from './digests-file.js'
import { progressOn } from './progress.js'
import { rederived, type Rederived } from './rederive.js'

interface Verify {
  readonly directory: string
  readonly against: string | undefined
}

const SHOWN = 100

/** `tallytree verify`: checks a copied log and what follows from it; answers the exit code. */
export const verify = async ({ directory, against }: Verify, config: Config): Promise<number> => {
  const path = join(directory, 'events.db')
  if ((await stat(path).catch(() => undefined)) === undefined)
    throw new OperatorError(`${directory} does not contain a log (events.db)`)
  const copy = openLogCopy(path)
  try {
    const kept = await keptDigests(directory)
    const said = against === undefined ? (kept?.models ?? null) : await saidBy(against, config, copy)
    const last = copy.last()?.position ?? 0
    const log = kept?.position ?? last
    const upTo = { log, models: against === undefined ? log : last }
    const progress = progressOn(process.stderr, 'verifying')
    const found = await rederived(copy, openFileBlobStore(join(directory, 'blobs')), upTo, progress.note)
    progress.end()
    return report(found, kept, said)
  } finally {
    copy.close()
  }
}

const saidBy = async (url: string, config: Config, copy: LogCopy): Promise<readonly ModelDigest[]> => {
  const service = await openService(url, config.apiKey)
  const last = copy.last()
  if (last !== undefined) await requireSame(service, last)
  return digestsIn(await service.digestsAt(BigInt(last?.position ?? 0)))
}

const report = (
  found: Rederived,
  kept: KeptDigests | undefined,
  said: readonly ModelDigest[] | null,
): number => {
  const { events, wrong } = found
  const { lines, differing } = compared(found.models, said)
  const differences = [...wrong, ...wrongLog(found, kept)]
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  for (const one of differences.slice(0, SHOWN)) say(one)
  if (differences.length > SHOWN) say(`… and ${differences.length - SHOWN} more`)
  lines.forEach(say)
  if (differences.length + differing.length === 0) {
    const compare = said === null ? 'no digests of read models to compare with' : 'all equal'
    say(`verified ${events} events: ${compare}`)
    return 0
  }
  const models = differing.length === 0 ? '' : `; differing: ${differing.join(', ')}`
  say(`verification failed: ${differences.length} errors in ${events} events${models}`)
  return 1
}

/** The log itself, also where no read model shows it. */
const wrongLog = ({ log, logEvents }: Rederived, kept: KeptDigests | undefined): readonly string[] => {
  if (kept === undefined || (kept.log === log && kept.events === logEvents)) return []
  return [
    `the log differs from the copied one up to position ${kept.position}: now ${logEvents} events with digest ${log}, ` +
      `when copied ${kept.events} events with digest ${kept.log}`,
  ]
}

interface Comparison {
  /** A line for each model. */
  readonly lines: readonly string[]
  /** The models that differ. */
  readonly differing: readonly string[]
}

/** Holds what was made from a log against what a service said. */
const compared = (made: readonly ModelDigest[], said: readonly ModelDigest[] | null): Comparison => {
  const differing: string[] = []
  const lines = made.map(({ model, rows, digest }) => {
    const told = `${model.padEnd(16)} ${String(rows).padStart(10)} rows  ${digest}`
    if (said === null) return told
    const other = said.find((one) => one.model === model)
    if (other?.digest === digest && other.rows === rows) return `${told}  equal`
    differing.push(model)
    return `${told}  differs: ${other === undefined ? 'missing there' : `${other.rows} rows  ${other.digest}`}`
  })
  const unknown = (said ?? []).filter(({ model }) => made.every((one) => one.model !== model))
  return {
    lines: [...lines, ...unknown.map(({ model }) => `${model.padEnd(16)} differs: unknown to this release`)],
    differing: [...differing, ...unknown.map(({ model }) => model)],
  }
}
