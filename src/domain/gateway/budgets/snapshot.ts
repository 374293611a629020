import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textLike } from '../../../kernel/codec/text.js'
import { decode } from '../../../kernel/codec/codec.js'
import { teamName } from '../../../kernel/ids.js'
import type { Json, JsonObject } from '../../../kernel/json/json.js'
import type { Position, RecordedEvent } from '../../../kernel/ports/event-store.js'
import { modelPrice } from '../upstreams/content.js'
import type { LedgerContent } from './ledger.js'
import type { Sums } from './account.js'

const digits = textLike('digits', /^-?\d{1,200}$/, 'String should be a whole number')

const sums = open('Sums', { required: { spent: digits, reserved: digits, unknown: digits } })

const snapshot = open('LedgerSnapshot', {
  required: {
    version: oneOf('1'),
    position: digits,
    anchor: open('Anchor', { required: { stream: string, revision: digits, id: string } }),
    teams: arrayOf(teamName),
    accounts: arrayOf(open('Account', { required: { key: string, sums, calls: arrayOf(string) } })),
    open: arrayOf(
      open('OpenCall', {
        required: {
          stream: string,
          project: string,
          id: string,
          keyId: string,
          admittedAt: instant,
          instance: string,
          deadlineAt: instant,
          reserved: digits,
        },
        optional: { price: nullable(modelPrice) },
      }),
    ),
  },
})

/** Identifies the log of a snapshot: another log has a different event at this position. */
export interface Anchor {
  readonly stream: string
  readonly revision: bigint
  readonly id: string
}

export const anchorOf = ({ stream, revision, id }: RecordedEvent): Anchor => ({ stream, revision, id })

/** A ledger as of a log position, to resume from. */
export interface Snapshot {
  readonly position: Position
  readonly anchor: Anchor
  /** Teams that have or had limits. */
  readonly teams: readonly string[]
  readonly ledger: LedgerContent
}

export const snapshotText = ({ position, anchor, teams, ledger }: Snapshot): string =>
  JSON.stringify({
    version: '1',
    position: String(position),
    anchor: { ...anchor, revision: String(anchor.revision) },
    teams,
    accounts: ledger.accounts.map((account) => ({ ...account, sums: sumsJson(account.sums) })),
    open: ledger.open.map((call) => ({ ...call, reserved: String(call.reserved) })),
  })

const sumsJson = ({ spent, reserved, unknown }: Sums): JsonObject => ({
  spent: String(spent),
  reserved: String(reserved),
  unknown: String(unknown),
})

/** Undefined for anything but a snapshot of this version. */
export const snapshotIn = (text: string): Snapshot | undefined => {
  const decoded = decode(snapshot)(parsed(text))
  if (decoded._tag === 'Left') return undefined
  const { position, anchor, teams, accounts, open: calls } = decoded.right
  return {
    position: BigInt(position),
    anchor: { ...anchor, revision: BigInt(anchor.revision) },
    teams,
    ledger: {
      accounts: accounts.map(({ key, sums: { spent, reserved, unknown }, calls: last }) => ({
        key,
        sums: { spent: BigInt(spent), reserved: BigInt(reserved), unknown: BigInt(unknown) },
        calls: last,
      })),
      open: calls.map((call) => ({ ...call, reserved: BigInt(call.reserved) })),
    },
  }
}

const parsed = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}
