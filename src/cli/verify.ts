import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openLogCopy, type LogCopy } from '../adapters/event-store/sqlite/log-copy.js'
import { withBucketLog } from '../composition/bucket-log.js'
import { blobsOf, objectsOf } from '../composition/objects.js'
import { openService } from '../composition/log-sources.js'
import type { Config } from '../config.js'
import type { BucketAddress } from '../kernel/ports/objects-url.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import type { ModelDigest } from '../projections/audit/queries.js'
import { checkTree } from './check-tree.js'
import { copyTree } from './copy-tree.js'
import { digestsIn, readDigests, type RecordedDigests } from './digests-file.js'
import { progressOn } from './progress.js'
import { reproject, type Reprojection } from './reproject.js'
import { assertSameLog } from './same-log.js'

interface Verify {
  readonly directory: string
  readonly against: string | undefined
  /** The bucket with the blobs of the copy, if they are not in the directory. */
  readonly objects: BucketAddress | null
  /** A file with a checkpoint that the log must continue. */
  readonly checkpoint: string | undefined
  /** The keys that verify checkpoints, if they are not to be taken from the directory. */
  readonly verifiers: readonly string[]
}

const SHOWN = 100

/** `tallytree verify`: checks a copied log and the read models that follow from it. Returns the exit code. */
export const verify = async (
  { directory, against, objects, checkpoint, verifiers }: Verify,
  config: Config,
): Promise<number> => {
  const path = join(directory, 'events.db')
  if ((await stat(path).catch(() => undefined)) === undefined)
    throw new OperatorError(`${directory} does not contain a log (events.db)`)
  const copy = openLogCopy(path)
  try {
    const recorded = await readDigests(directory)
    const expected =
      against === undefined ? (recorded?.models ?? null) : await digestsOfService(against, config, copy)
    const last = copy.last()?.position ?? 0
    const log = recorded?.position ?? last
    const upTo = { log, models: against === undefined ? log : last }
    const progress = progressOn(process.stderr, 'verifying')
    const blobs = await blobsOf(objects ?? objectsOf(directory, config), directory)
    const isOwn = resolve(directory) === config.dataDirectory
    const bucketLog = isOwn ? await withBucketLog(config, copyTree) : undefined
    const tree = await checkTree({ directory, checkpoint, verifiers, bucketLog })
    const found = await reproject(copy, blobs, upTo, tree.add, progress.note)
    progress.end()
    const { errors, summary } = tree.end()
    process.stdout.write(`${summary}\n`)
    return report({ ...found, errors: [...found.errors, ...errors] }, recorded, expected)
  } finally {
    copy.close()
  }
}

const digestsOfService = async (
  url: string,
  config: Config,
  copy: LogCopy,
): Promise<readonly ModelDigest[]> => {
  const service = await openService(url, config.apiKey)
  const last = copy.last()
  if (last !== undefined) await assertSameLog(service, last)
  return digestsIn(await service.digestsAt(BigInt(last?.position ?? 0)))
}

const report = (
  found: Reprojection,
  recorded: RecordedDigests | undefined,
  expected: readonly ModelDigest[] | null,
): number => {
  const { events, errors } = found
  const { lines, differing } = compare(found.models, expected)
  const differences = [...errors, ...logErrors(found, recorded)]
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  for (const one of differences.slice(0, SHOWN)) print(one)
  if (differences.length > SHOWN) print(`… and ${differences.length - SHOWN} more`)
  lines.forEach(print)
  if (differences.length + differing.length === 0) {
    const compared = expected === null ? 'no digests of read models to compare with' : 'all equal'
    print(`verified ${events} events: ${compared}`)
    return 0
  }
  const models = differing.length === 0 ? '' : `; differing: ${differing.join(', ')}`
  print(`verification failed: ${differences.length} errors in ${events} events${models}`)
  return 1
}

/** Compares the log itself, because a change may not show in any read model. */
const logErrors = (
  { log, logEvents }: Reprojection,
  recorded: RecordedDigests | undefined,
): readonly string[] => {
  if (recorded === undefined || (recorded.log === log && recorded.events === logEvents)) return []
  return [
    `the log differs from the copied one up to position ${recorded.position}: now ${logEvents} events with digest ${log}, ` +
      `when copied ${recorded.events} events with digest ${recorded.log}`,
  ]
}

interface Comparison {
  /** A line for each model. */
  readonly lines: readonly string[]
  /** The models that differ. */
  readonly differing: readonly string[]
}

/** Compares the digests of the reprojected models with the expected ones. */
const compare = (found: readonly ModelDigest[], expected: readonly ModelDigest[] | null): Comparison => {
  const differing: string[] = []
  const lines = found.map(({ model, rows, digest }) => {
    const line = `${model.padEnd(16)} ${String(rows).padStart(10)} rows  ${digest}`
    if (expected === null) return line
    const other = expected.find((one) => one.model === model)
    if (other?.digest === digest && other.rows === rows) return `${line}  equal`
    differing.push(model)
    return `${line}  differs: ${other === undefined ? 'missing there' : `${other.rows} rows  ${other.digest}`}`
  })
  const unknown = (expected ?? []).filter(({ model }) => found.every((one) => one.model !== model))
  return {
    lines: [...lines, ...unknown.map(({ model }) => `${model.padEnd(16)} differs: unknown to this release`)],
    differing: [...differing, ...unknown.map(({ model }) => model)],
  }
}
