import { arrayOf, nullable } from '../../../kernel/codec/containers.js'
import { decode } from '../../../kernel/codec/codec.js'
import { instant } from '../../../kernel/codec/instant.js'
import { string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textLike } from '../../../kernel/codec/text.js'
import { teamName } from '../../../kernel/ids.js'
import type { Json, JsonObject } from '../../../kernel/json/json.js'
import { modelPrice } from '../upstreams/content.js'
import type { GatewayCall } from './gateway-call.js'
import type { LedgerContent } from './ledger.js'

const digits = textLike('digits', /^-?\d{1,200}$/, 'String should be a whole number')

const calls = arrayOf(
  open('LedgerCall', {
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
)

const snapshot = open('LedgerSnapshot', {
  required: {
    teams: arrayOf(teamName),
    accounts: arrayOf(
      open('Account', { required: { key: string, spent: digits, reserved: digits, unknown: digits } }),
    ),
    open: calls,
    unknown: calls,
  },
})

export interface Snapshot {
  /** Teams that have or had limits. */
  readonly teams: readonly string[]
  readonly ledger: LedgerContent
}

export const snapshotJson = ({ teams, ledger }: Snapshot): Json => ({
  teams,
  accounts: ledger.accounts.map(({ key, sums: { spent, reserved, unknown } }) => ({
    key,
    spent: String(spent),
    reserved: String(reserved),
    unknown: String(unknown),
  })),
  open: ledger.open.map(callJson),
  unknown: ledger.unknown.map(callJson),
})

const callJson = (call: GatewayCall): JsonObject => ({ ...call, reserved: String(call.reserved) })

/** Undefined for anything but a snapshot in this form. */
export const snapshotIn = (encoded: Json): Snapshot | undefined => {
  const decoded = decode(snapshot)(encoded)
  if (decoded._tag === 'Left') return undefined
  const { teams, accounts, open: opened, unknown } = decoded.right
  const call = <A extends { readonly reserved: string }>(one: A) => ({
    ...one,
    reserved: BigInt(one.reserved),
  })
  return {
    teams,
    ledger: {
      accounts: accounts.map(({ key, ...sums }) => ({
        key,
        sums: { spent: BigInt(sums.spent), reserved: BigInt(sums.reserved), unknown: BigInt(sums.unknown) },
      })),
      open: opened.map(call),
      unknown: unknown.map(call),
    },
  }
}
