import type * as t from 'io-ts'
import { oneOf } from '../../kernel/codec/leaves.js'

/** Roles within a team. A team administrator also has the rights of the other two administrators. */
export const role = oneOf('member', 'team_administrator', 'registry_administrator', 'project_administrator')
export type Role = t.TypeOf<typeof role>

/** Removes duplicates and sorts, so that equal sets are equal lists. */
export const roleSet = (roles: readonly Role[]): readonly Role[] => [...new Set(roles)].sort()
