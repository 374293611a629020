import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { instant } from '../../../kernel/codec/instant.js'
import { string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textLike } from '../../../kernel/codec/text.js'
import { decode } from '../../../kernel/codec/codec.js'
import { teamName } from '../../../kernel/ids.js'
import type { Json, JsonObject } from '../../../kernel/json/json.js'
import { modelPrice } from '../upstreams/content.js'
import type { LedgerContent } from './ledger.js'
import type { Sums } from './account.js'

const digits = textLike('digits', /^-?\d{1,200}$/, 'String should be a whole number')

const sums = open('Sums', { required: { spent: digits, reserved: digits, unknown: digits } })

const snapshot = open('LedgerSnapshot', {
  required: {
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

export interface Snapshot {
  /** Teams that have or had limits. */
  readonly teams: readonly string[]
  readonly ledger: LedgerContent
}

export const snapshotJson = ({ teams, ledger }: Snapshot): Json => ({
  teams,
  accounts: ledger.accounts.map((account) => ({ ...account, sums: sumsJson(account.sums) })),
  open: ledger.open.map((call) => ({ ...call, reserved: String(call.reserved) })),
})

const sumsJson = ({ spent, reserved, unknown }: Sums): JsonObject => ({
  spent: String(spent),
  reserved: String(reserved),
  unknown: String(unknown),
})

/** Undefined for anything but a snapshot in this form. */
export const snapshotIn = (encoded: Json): Snapshot | undefined => {
  const decoded = decode(snapshot)(encoded)
  if (decoded._tag === 'Left') return undefined
  const { teams, accounts, open: calls } = decoded.right
  return {
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
