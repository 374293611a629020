import type * as t from 'io-ts'
import { nullable } from '../../../kernel/codec/containers.js'
import { oneOf } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import type { Problem } from '../../../kernel/codec/problem.js'
import { id, projectName, projectNameOf } from '../../../kernel/ids.js'

/** What a limit applies to: the whole team, one of its projects, or a key in its projects. */
export const limitScopeFields = {
  required: { type: oneOf('team', 'project', 'key') },
  optional: { project: nullable(projectName), key: nullable(id) },
}
export const limitScope = open('LimitScope', limitScopeFields)
export type LimitScope = t.TypeOf<typeof limitScope>

export const TEAM: LimitScope = { type: 'team', project: null, key: null }

/** All scopes that a completion counts in. */
export const scopesOf = (projectId: string, keyId: string): readonly LimitScope[] => [
  TEAM,
  { type: 'project', project: projectNameOf(projectId), key: null },
  { type: 'key', project: null, key: keyId },
]

/** Equal for equal scopes of a team. */
export const scopeText = ({ type, project, key }: LimitScope): string =>
  type === 'team' ? 'team' : `${type}:${project ?? key}`

/** A scope as shown to users. */
export const scopeInWords = (team: string, { type, project, key }: LimitScope): string => {
  switch (type) {
    case 'team':
      return `the team ${team}`
    case 'project':
      return `the project ${team}/${project}`
    case 'key':
      return `the API key ${key} in the team ${team}`
    default:
      return type satisfies never
  }
}

/** Problems with fields that are missing or do not apply to the scope's type. */
export const scopeProblems = ({ type, project, key }: LimitScope): readonly Problem[] =>
  (
    [
      ['project', project],
      ['key', key],
    ] as const
  ).flatMap(([field, value]): Problem[] => {
    if (type === field && value === null)
      return [{ loc: ['scope', field], type: 'missing', msg: 'Field required' }]
    return type !== field && value !== null
      ? [{ loc: ['scope', field], type: 'extra_forbidden', msg: `Not allowed for scope type ${type}` }]
      : []
  })
