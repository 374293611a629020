import { ITEMS, PROGRESS, QUEUES } from './annotation-queues/tables.js'

/** The tables of the read models that are not in `schema`. */
export const TABLES = [QUEUES, ITEMS, PROGRESS]
