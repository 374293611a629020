import type * as t from 'io-ts'
import { oneOf } from '../codec/leaves.js'

/** What a user may do in a team. A team administrator may also do what the other two administrators may. */
export const role = oneOf('member', 'team_administrator', 'registry_administrator', 'project_administrator')
export type Role = t.TypeOf<typeof role>

/** Roles as a set: each once, in an order of their own, so that equal sets are equal lists. */
export const roleSet = (roles: readonly Role[]): readonly Role[] => [...new Set(roles)].sort()
