import { useQueryClient } from '@tanstack/react-query'
import { Modal } from '@mantine/core'
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react'
import { api, dataOf, whenSignedOut, type SignedIn } from './api.js'
import { boot } from './boot.js'
import { SignInForm, SignInPage } from './sign-in.js'

interface Session {
  readonly user: SignedIn
  readonly refresh: () => Promise<void>
  readonly signOut: () => Promise<void>
}

const SessionContext = createContext<Session | null>(null)

/** The signed-in user. Components below {@link SessionProvider} always have one. */
export const useSession = (): Session => use(SessionContext)!

/**
 * Shows the page to signed-in users, and the sign-in page in its place to others. When a session ends meanwhile, the
 * sign-in is a dialog over the page, so that drafts are kept.
 */
export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const [user, setUser] = useState(boot.signedIn)
  const [isExpired, setExpired] = useState(false)
  const queries = useQueryClient()
  useEffect(() => whenSignedOut(() => setExpired(true)), [])
  const session = useMemo(
    () =>
      user && {
        user,
        refresh: async () => setUser(await dataOf(api.GET('/api/sessions'))),
        signOut: async () => {
          await api.DELETE('/api/sessions')
          queries.clear()
          setUser(null)
        },
      },
    [user, queries],
  )
  const onSignedIn = (signedIn: SignedIn) => {
    // Another person's data must not be shown from the cache.
    if (user !== null && user.user !== signedIn.user) queries.clear()
    else void queries.invalidateQueries()
    setUser(signedIn)
    setExpired(false)
  }
  if (session === null) return <SignInPage onSignedIn={onSignedIn} />
  return (
    <SessionContext value={session}>
      {children}
      <Modal
        opened={isExpired}
        onClose={() => undefined}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Your session has ended"
      >
        <SignInForm onSignedIn={onSignedIn} />
      </Modal>
    </SessionContext>
  )
}

/** The roles of the user in a team, which the service administrator has all. */
export const useRights = (team: string) => {
  const { user } = useSession()
  const roles = user.teams.find((membership) => membership.team === team)?.roles ?? []
  const isTeamAdministrator = user.administrator || roles.includes('team_administrator')
  return {
    isTeamAdministrator,
    canAutomate: isTeamAdministrator || roles.some((role) => role !== 'member'),
    canSetUp: (project: string) =>
      isTeamAdministrator ||
      roles.some((role) => role === 'project_administrator' || role === `project_administrator:${project}`),
  }
}
