import { readFileSync } from 'node:fs'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }

/** What the service is started with: `node` and these, and then the program. */
export const serviceFlags = /node (.*) \S+$/.exec(scripts.start)![1]!.split(' ')

/** The same for a program that is not compiled. */
export const flagsBeforeTypeScript = [...serviceFlags, '--import', 'tsx']
