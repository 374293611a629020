import type { NewApiKey } from '../../domain/access/commands.js'
import type { Directory } from '../../domain/access/directory.js'
import { principalOf } from '../../domain/access/look-ups.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import type { Access } from './access.js'
import { describeKey, makeKey, type KeyPorts } from './new-key.js'

export interface BootstrapResult {
  /** The administrator's key, shown once. Absent on later starts and when the operator provided the key. */
  readonly createdKey?: string
  /** The operator's key was ignored, because it is not a key of the administrator. */
  readonly ignoredKey: boolean
}

/** The user that the first start creates. */
export const ADMINISTRATOR = 'admin'
const TEAM = 'default'
const KEY_NAME = 'bootstrap'

/**
 * On the first start, creates the administrator with a key and the team `default`. When several processes start at
 * once, one of them creates these and the others find them.
 */
export const bootstrapAccess = async (
  ports: KeyPorts,
  access: Pick<Access, 'directory' | 'run'>,
  givenKey: string | undefined,
): Promise<BootstrapResult> => {
  if (givenKey !== undefined) refuseUnusable(givenKey)
  const { key, known } =
    givenKey === undefined
      ? makeKey(ports, KEY_NAME)
      : describeKey(ports, givenKey, KEY_NAME, ports.ids.next())
  const holder = principalOf(await madeDirectory(ports, access, known), known.hash, 'key', known.issued_at)
  if (givenKey !== undefined) return { ignoredKey: holder?.administrator !== true }
  return holder === undefined ? { ignoredKey: false } : { createdKey: key, ignoredKey: false }
}

const madeDirectory = async (
  { ids }: Pick<KeyPorts, 'ids'>,
  access: Pick<Access, 'directory' | 'run'>,
  key: NewApiKey,
): Promise<Directory> => {
  if (access.directory().users.size > 0) return access.directory()
  const correlationId = ids.next()
  const cause = { correlationId, causationId: correlationId, actor: 'system' }
  return (await access.run({ type: 'Bootstrap', user: ADMINISTRATOR, team: TEAM, key }, cause)).state
}

const LEAST_CHARACTERS = 16

const refuseUnusable = (key: string): void => {
  const name = 'TALLYTREE_BOOTSTRAP_API_KEY'
  if (key.length < LEAST_CHARACTERS)
    throw new OperatorError(`${name} must have at least ${LEAST_CHARACTERS} characters`)
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new OperatorError(`${name} must contain only printable ASCII characters, without spaces`)
}
