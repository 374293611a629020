import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'

export interface GivenTeam {
  readonly team: string
  /** The key of a member with these roles. */
  readonly keyOf: (...roles: readonly string[]) => Promise<string>
}

/** A team of its own. */
export const givenTeam = async (service: TestService): Promise<GivenTeam> => {
  const team = `team-${randomUUID().slice(0, 8)}`
  await service.teams.create(team).json()
  const keyOf = async (...roles: readonly string[]) => {
    const user = `user-${randomUUID().slice(0, 8)}`
    return await service.teams.keyOf(team, user, roles)
  }
  return { team, keyOf }
}

/** Brings somebody into a team as well. */
export const admit = async (service: TestService, team: string, key: string, role = 'member') => {
  const me = accepted(await service.send('GET', '/api/users/me', undefined, { key }))
  accepted(await service.post(`/api/teams/${team}/members`, { user: textIn(me, 'user'), role }))
}
