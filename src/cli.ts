#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { docs } from './cli/docs.js'
import { issueKey } from './cli/keys.js'
import { importPrices } from './cli/prices.js'
import { rebuild } from './cli/rebuild.js'
import { replay } from './cli/replay.js'
import { reencrypt } from './cli/secrets.js'
import { verify } from './cli/verify.js'
import { readConfig } from './config.js'
import { OperatorError } from './domain/ports/operator-error.js'

const USAGE = `usage: tallytree <command>

  replay --to DIR [--from SOURCE] [--upto POSITION]
                 copies a log, with the content that it names, into DIR, or goes on with a copy there. SOURCE is the
                 data directory of a stopped service (TALLYTREE_DATA_DIR without it), or the address of a running one,
                 which is asked with the administrator's key in TALLYTREE_API_KEY, or an EventStoreDB, esdb://...
                 Where DIR is esdb://... too, the log is appended there, for a service that moves to an EventStoreDB
  verify DIR [--against URL]
                 checks every event of a copied log, makes every read model from it anew, and compares with what the
                 service said when the log was copied, or with a running service
  rebuild [--url URL]
                 makes every read model anew from the log, through the running service (asked with the administrator's
                 key in TALLYTREE_API_KEY), or here while it is stopped
  prices import [--list NAME] [--url URL] FILE
                 imports prices into the list that prices what projects have no price for, or into a list of another
                 name, through the running service (asked with the administrator's key in TALLYTREE_API_KEY);
                 docs/prices.md describes the file
  secrets reencrypt
                 encrypts all values of secrets in the data directory under the active master key, while services go on;
                 docs/secrets.md says what to do before and after
  keys issue [USER]
                 makes one more API key for a user whose keys are lost, the administrator where none is named, and prints
                 it; while the service is stopped, or over an EventStoreDB
  docs           writes docs/events.md, the catalogue of events
  docs --check   only says whether it is up to date

Exit codes: 0 all is well, 1 something differs, 2 it could not be done.
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
      ...{ to: { type: 'string' }, from: { type: 'string' }, upto: { type: 'string' } },
      ...{ url: { type: 'string' }, list: { type: 'string' } },
      ...{ against: { type: 'string' }, check: { type: 'boolean' } },
    },
  })
  const { to, from, upto, against, url, list, check } = values
  const [directory, file] = positionals
  const given = [to, from, upto, against, url, list, check].filter((value) => value !== undefined).length
  const only = (most: number, ...allowed: readonly unknown[]) =>
    positionals.length === most && given === allowed.filter((value) => value !== undefined).length
  if (command === 'docs' && only(0, check)) return docs(check ?? false)
  if (command === 'verify' && directory !== undefined && only(1, against))
    return verify({ directory, against }, readConfig())
  if (command === 'rebuild' && only(0, url)) return rebuild(url, readConfig())
  if (command === 'prices' && directory === 'import' && file !== undefined && only(2, list, url))
    return importPrices({ file, list, url }, readConfig())
  if (command === 'secrets' && directory === 'reencrypt' && only(1)) return reencrypt(readConfig())
  if (command === 'keys' && directory === 'issue' && only(file === undefined ? 1 : 2))
    return issueKey(file, readConfig())
  if (command === 'replay' && to !== undefined && only(0, to, from, upto) && /^\d{1,19}$/.test(upto ?? '0'))
    return replay({ to, from, upTo: upto === undefined ? undefined : BigInt(upto) }, readConfig())
  return undefined
}

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
