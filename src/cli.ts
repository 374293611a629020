#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { disk } from './cli/disk.js'
import { docs } from './cli/docs.js'
import { exportOtlp } from './cli/export-otlp.js'
import { exportParquet } from './cli/export-parquet.js'
import { issueKey } from './cli/keys.js'
import { importPrices } from './cli/prices.js'
import { addressOf, copyObjects } from './cli/objects.js'
import { checkProof, newOrigin, printLogKeys, proveEvent, rotateLogKey } from './cli/log.js'
import { rebuild } from './cli/rebuild.js'
import { replay } from './cli/replay.js'
import { reencrypt } from './cli/secrets.js'
import { verify } from './cli/verify.js'
import { watchJob } from './cli/watch-job.js'
import { readConfig } from './config.js'
import { OperatorError } from './kernel/ports/operator-error.js'

const USAGE = `usage: tallytree <command>

  replay --to DIR [--from SOURCE] [--upto POSITION] [--objects URL]
                 copies a log and its blobs into DIR, or resumes a copy there. SOURCE is the
                 data directory of a stopped service (default: TALLYTREE_DATA_DIR), the address of a running one
                 (with the administrator's key in TALLYTREE_API_KEY), or an EventStoreDB, esdb://...
                 If DIR is esdb://... the log is appended there, to move a service to an EventStoreDB.
                 Blobs go to the bucket URL, s3://..., or into DIR; those of the source are in it, or in the bucket
                 TALLYTREE_OBJECTS_URL
  verify DIR [--against URL] [--objects URL] [--checkpoint FILE] [--verifier KEY]
                 checks every event of a copied log, rebuilds every read model from it, and compares their digests with
                 those recorded by the copy, or with those of a running service. Builds the tree of the log, and compares
                 it with the checkpoints in DIR and in FILE, which KEYs or those in DIR verify
  objects copy --from SOURCE --to TARGET
                 copies payloads and secrets of a data directory of a stopped service into a bucket, s3://..., or back; an
                 interrupted copy is resumed, and content is compared with its digest
  rebuild [--url URL]
                 rebuilds every read model from the log, through the running service (with the administrator's
                 key in TALLYTREE_API_KEY), or in this process while the service is stopped
  disk [--content-days DAYS] [--json] [--url URL]
                 prints what takes the space, by project and kind, and what erasing the content of calls after DAYS would
                 give back. Reads the data directory and the log, which a running service gives (with the administrator's
                 key in TALLYTREE_API_KEY)
  prices import [--list NAME] [--url URL] FILE
                 imports prices into the default price list, which applies where a project has no price, or into
                 list NAME, through the running service (with the administrator's key in TALLYTREE_API_KEY);
                 docs/prices.md describes the file
  secrets reencrypt
                 re-encrypts all secrets in the bucket or the data directory with the active master key, also while services run;
                 docs/secrets.md describes the steps before and after
  keys issue [USER]
                 issues an API key for a user who lost theirs (default: the administrator) and prints it; requires a
                 stopped service or an EventStoreDB
  log key        prints the keys that verify the signed checkpoints of the log
  log rotate-key makes a new key, which signs from the next start of the service on, or at once in a bucket; the former one
                 signs for 30 more days
  log new-origin begins a new signed log, which names the last checkpoint, where the event log does not match what was
                 signed; requires a stopped service
  log prove EVENT [--stream STREAM] [--url URL]
                 prints a proof that the log has an event, from the running service (with a key in TALLYTREE_API_KEY)
  log check FILE --verifier KEY
                 checks such a proof without the service, with a key as "log key" prints it
  jobs watch [--url URL] JOB
                 follows a training job of the running service to its end, with charts of its metrics on a terminal
                 (with a key in TALLYTREE_API_KEY); the exit code is 1 if the job failed
  export otlp --to URL [--from SOURCE] [--project TEAM/PROJECT] [--after POSITION] [--resume FILE] [--header NAME=VALUE]
                 sends the finished calls of a log as spans to an OpenTelemetry collector, such as
                 http://127.0.0.1:4318/v1/traces; SOURCE as for replay. FILE keeps the position to resume after.
                 The exit code is 1 if the collector refused spans
  export parquet --to FILE [--from SOURCE] [--project TEAM/PROJECT]
                 writes the finished calls of a log to a Parquet file; docs/usage-queries.md describes the columns
  docs           writes docs/events.md, the event catalogue
  docs --check   only checks whether it is up to date

Exit codes: 0 success, 1 differences found, 2 error.
`

const run = async ([command = '', ...rest]: readonly string[]): Promise<number | undefined> => {
  if (['help', '--help', '-h'].includes(command)) {
    process.stdout.write(USAGE)
    return 0
  }
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: {
      to: { type: 'string' },
      from: { type: 'string' },
      upto: { type: 'string' },
      url: { type: 'string' },
      list: { type: 'string' },
      against: { type: 'string' },
      check: { type: 'boolean' },
      project: { type: 'string' },
      after: { type: 'string' },
      resume: { type: 'string' },
      header: { type: 'string', multiple: true },
      objects: { type: 'string' },
      stream: { type: 'string' },
      checkpoint: { type: 'string' },
      verifier: { type: 'string', multiple: true },
      json: { type: 'boolean' },
      'content-days': { type: 'string' },
    },
  })
  const {
    to,
    from,
    upto,
    against,
    url,
    list,
    check,
    project,
    after,
    resume,
    header,
    objects,
    stream,
    verifier,
    checkpoint,
    json,
    'content-days': days,
  } = values
  const [directory, file] = positionals
  const given = Object.keys(values).length
  const only = (most: number, ...allowed: readonly unknown[]) =>
    positionals.length === most && given === allowed.filter((value) => value !== undefined).length
  if (command === 'docs' && only(0, check)) return docs(check ?? false)
  if (command === 'verify' && directory !== undefined && only(1, against, objects, checkpoint, verifier))
    return verify(
      { directory, against, objects: addressOf(objects), checkpoint, verifiers: verifier ?? [] },
      readConfig(),
    )
  if (command === 'objects' && directory === 'copy' && from !== undefined && to !== undefined)
    if (only(1, from, to)) return copyObjects({ from, to }, readConfig())
  if (command === 'rebuild' && only(0, url)) return rebuild(url, readConfig())
  if (command === 'disk' && only(0, days, json, url) && /^[1-9]\d{0,4}$/.test(days ?? '1'))
    return disk(
      { url, contentDays: days === undefined ? undefined : Number(days), isJson: json ?? false },
      readConfig(),
    )
  if (command === 'prices' && directory === 'import' && file !== undefined && only(2, list, url))
    return importPrices({ file, list, url }, readConfig())
  if (command === 'jobs' && directory === 'watch' && file !== undefined && only(2, url))
    return watchJob({ job: file, url }, readConfig())
  if (command === 'secrets' && directory === 'reencrypt' && only(1)) return reencrypt(readConfig())
  if (command === 'log' && directory === 'key' && only(1)) return printLogKeys(readConfig())
  if (command === 'log' && directory === 'rotate-key' && only(1)) return rotateLogKey(readConfig())
  if (command === 'log' && directory === 'new-origin' && only(1)) return newOrigin(readConfig())
  if (command === 'log' && directory === 'prove' && file !== undefined && only(2, stream, url))
    return proveEvent({ event: file, stream, url }, readConfig())
  if (command === 'log' && directory === 'check' && file !== undefined && verifier !== undefined)
    if (only(2, verifier)) return checkProof(file, verifier)
  if (command === 'keys' && directory === 'issue' && only(file === undefined ? 1 : 2))
    return issueKey(file, readConfig())
  if (command === 'export' && directory === 'parquet' && to !== undefined && only(1, to, from, project))
    return exportParquet({ to, from, project }, readConfig())
  if (command === 'export' && directory === 'otlp' && to !== undefined && isPosition(after))
    if (only(1, to, from, project, after, resume, header))
      return exportOtlp(
        { to, from, project, resume, headers: header ?? [], after: positionOf(after) },
        readConfig(),
      )
  if (command === 'replay' && to !== undefined && only(0, to, from, upto, objects) && isPosition(upto))
    return replay({ to, from, objects: addressOf(objects), upTo: positionOf(upto) }, readConfig())
  return undefined
}

const isPosition = (text = '0'): boolean => /^\d{1,19}$/.test(text)

const positionOf = (text: string | undefined): bigint | undefined =>
  text === undefined ? undefined : BigInt(text)

const explained = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error instanceof OperatorError ? error.message : (error.stack ?? error.message)
}

const isMisused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')

try {
  const code = await run(process.argv.slice(2))
  if (code === undefined) process.stderr.write(USAGE)
  process.exitCode = code ?? 2
} catch (error) {
  process.stderr.write(isMisused(error) ? USAGE : `tallytree: ${explained(error)}\n`)
  process.exitCode = 2
}
