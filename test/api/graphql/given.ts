import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Client, SendOptions } from '../../support/client.js'
import { accepted, textIn } from '../calls/given.js'

export interface Told {
  readonly data?: Readonly<Record<string, any>> | null // eslint-disable-line @typescript-eslint/no-explicit-any -- GraphQL data has the shape of the query
  readonly errors?: readonly { readonly message: string; readonly path?: readonly unknown[] }[]
}

/** Asks and expects a 200 in GraphQL's form. */
export const ask = async (
  service: Client,
  query: string,
  variables?: JsonObject,
  options: SendOptions = {},
): Promise<Told> => {
  const answer = await service.post('/graphql', { query, ...(variables && { variables }) }, options)
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
  const told = answer.json<Told>()
  assert.ok('data' in told || (told.errors?.length ?? 0) > 0)
  return told
}

/** The data of an answer without errors. */
export const dataOf = ({ data, errors }: Told) => {
  assert.equal(errors, undefined)
  return data!
}

/** A key of a new user in new teams of these beginnings. */
export const memberOf = async (service: Client, ...beginnings: readonly string[]) => {
  const end = randomUUID().slice(0, 8)
  const user = `user-${end}`
  const teams = beginnings.map((beginning) => `${beginning}-${end}`)
  let key = ''
  for (const team of teams) {
    await service.teams.create(team).json()
    const added = accepted(await service.post(`/api/teams/${team}/members`, { user, role: 'member' }))
    if (typeof added['api_key'] === 'string') key = textIn(added, 'api_key')
  }
  return { user, teams, options: { key } }
}
