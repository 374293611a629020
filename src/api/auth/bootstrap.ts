import type { NewApiKey } from '../../domain/access/commands.js'
import type { Directory } from '../../domain/access/directory.js'
import { principalOf } from '../../domain/access/look-ups.js'
import { OperatorError } from '../../domain/ports/operator-error.js'
import type { Access } from './access.js'
import { describeKey, makeKey, type KeyPorts } from './new-key.js'

export interface Bootstrapped {
  /** The administrator's key, made now and shown once; absent at later starts and where the operator gave it. */
  readonly createdKey?: string
  /** The operator's key is not one of the administrator's: it was ignored, and a warning is due. */
  readonly ignoredKey: boolean
}

/** The user that the first start makes. */
export const ADMINISTRATOR = 'admin'
const TEAM = 'default'
const KEY_NAME = 'bootstrap'

/**
 * At first start, makes the administrator with a key and the team `default`. Of several processes that start at
 * once, one makes it; the others find it made.
 */
export const bootstrapAccess = async (
  ports: KeyPorts,
  access: Pick<Access, 'directory' | 'run'>,
  givenKey: string | undefined,
): Promise<Bootstrapped> => {
  if (givenKey !== undefined) refuseUnusable(givenKey)
  const { key, known } =
    givenKey === undefined
      ? makeKey(ports, KEY_NAME)
      : describeKey(ports, givenKey, KEY_NAME, ports.ids.next())
  const holder = principalOf(await madeDirectory(ports, access, known), known.hash)
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
