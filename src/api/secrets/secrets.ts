import type { Ports } from '../../domain/ports/ports.js'
import type { SecretStore } from '../../domain/ports/secret-store.js'
import type { Access } from '../auth/access.js'
import { requireRole } from '../auth/rights.js'
import type { LiveUpstreams } from '../inference/upstreams/live-upstreams.js'
import type { RouteRequest } from '../route.js'

export interface Secrets {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256'> & { readonly secrets: SecretStore }
  readonly access: Pick<Access, 'directory'>
  readonly liveUpstreams: Pick<LiveUpstreams, 'all'>
}

export const PATH = '/api/teams/:team/secrets'

/** Outside a team it is not to be seen, inside it a role is needed. */
export const rights = ['not-found', 'forbidden'] as const

/** The team of the path, for somebody who may manage its secrets. */
export const managedTeam = (
  access: Secrets['access'],
  { params, principal }: Pick<RouteRequest<unknown>, 'params' | 'principal'>,
): string => {
  const team = params['team']!
  requireRole(access, principal, team, 'team_administrator')
  return team
}
