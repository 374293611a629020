import type { Schemas } from '../kit/api.js'

export type Limit = Schemas['Limit']

export const limitsKey = (team: string) => ['limits', team]
