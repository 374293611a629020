/** Where most of the requests go, and where the member has no access. */
export const HOME = 'home/first'
export const STRANGERS = 'strangers/project'
export const PROJECTS = [HOME, 'home/second', STRANGERS] as const
