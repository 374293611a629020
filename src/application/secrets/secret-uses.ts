import * as E from 'fp-ts/lib/Either.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { DEFAULT_USES, secretStream, secretUse, type SecretUse } from '../../domain/secrets/secret.js'
import { NO_SECRET } from '../../domain/secrets/static-headers.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import { namesOf } from './reconcile.js'

const uses = arrayOf(secretUse, 1)

/** What the latest event of a secret says. */
const usesIn = (data: JsonObject): readonly SecretUse[] => {
  const usedFor = uses.decode(data['used_for'])
  return E.isRight(usedFor) ? usedFor.right : DEFAULT_USES
}

/** The latest version of a secret of a team; undefined if it was destroyed or its event was never written. */
export const latestOf = async ({ eventStore }: Pick<Ports, 'eventStore'>, team: string, name: string) => {
  const newest = eventStore.readStream(secretStream(team, name), { backwards: true, limit: 1 })
  for await (const { type, data, recordedAt } of newest)
    if (type !== 'SecretDestroyed')
      return { version: Number(data['version']), updated_at: instantOf(recordedAt), used_for: usesIn(data) }
  return undefined
}

/** What a secret of a team may be used for; undefined if the team has no such secret. */
export const usesOfSecret = async (
  ports: Pick<Ports, 'eventStore'>,
  team: string,
  name: string,
): Promise<readonly SecretUse[] | undefined> => (await latestOf(ports, team, name))?.used_for

export type SecretProblem = 'The value is missing' | 'The value cannot be decrypted'

/** The secrets of a team after a name, by name, also those whose value is lost. */
export async function* secretsOf(
  ports: Pick<Ports, 'eventStore'> & { readonly secrets: Pick<SecretStore, 'names'> },
  team: string,
  problems: ReadonlyMap<string, SecretProblem>,
  after = '',
) {
  for await (const { name, since } of allNames(ports.secrets, team, after, [...problems.keys()])) {
    const latest = await latestOf(ports, team, name)
    const problem = problems.get(name)
    if (latest !== undefined)
      yield {
        name,
        ...latest,
        created_at: since === undefined ? latest.updated_at : instantOf(since),
        ...(problem === undefined ? {} : { problem }),
      }
  }
}

/** The names in the store and others, sorted. */
async function* allNames(
  secrets: Pick<SecretStore, 'names'>,
  team: string,
  after: string,
  others: readonly string[],
) {
  const rest = others.filter((name) => name > after).sort()
  for await (const held of namesOf(secrets, team, after)) {
    while (rest[0] !== undefined && rest[0] < held.name) yield { name: rest.shift()!, since: undefined }
    if (rest[0] === held.name) rest.shift()
    yield held
  }
  for (const name of rest) yield { name, since: undefined }
}

/** Why a team's secret may not be used for something; undefined if it may. */
export const secretProblem = async (
  ports: Pick<Ports, 'eventStore'>,
  team: string,
  name: string,
  use: SecretUse,
): Promise<string | undefined> => {
  const usedFor = await usesOfSecret(ports, team, name)
  if (usedFor === undefined) return NO_SECRET
  return usedFor.includes(use) ? undefined : notFor(team, name, usedFor, use)
}

const notFor = (team: string, name: string, usedFor: readonly SecretUse[], use: SecretUse): string =>
  `The secret ${name} is for ${usedFor.join(' and ')} only. A team administrator allows ${use} with PATCH ` +
  `/api/teams/${team}/secrets/${name} {"used_for": ${JSON.stringify([...usedFor, use])}}`

/** The secrets among `names` that may not be used for something, and why. */
export const secretProblems = async (
  ports: Pick<Ports, 'eventStore'>,
  team: string,
  names: readonly string[],
  use: SecretUse,
): Promise<ReadonlyMap<string, string>> => {
  const problems = new Map<string, string>()
  for (const name of names) {
    const problem = await secretProblem(ports, team, name, use)
    if (problem !== undefined) problems.set(name, problem)
  }
  return problems
}
