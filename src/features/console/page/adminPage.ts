import { html, type Html } from "../../../ui/html.ts";
import type { AdminPageData } from "./adminPageData.ts";
import { auditSection } from "./auditSection.ts";
import { cacheSection } from "./cacheSection.ts";
import { clientsSection } from "./clientsSection.ts";
import { contents } from "./contents.ts";
import { differencesSection } from "./differencesSection.ts";
import { expectDialog } from "./expectDialog.ts";
import { ledgerSection } from "./ledgerSection.ts";
import { moveDialog } from "./moveDialog.ts";
import { headline, overview } from "./overview.ts";
import { pageDocument } from "./pageDocument.ts";
import { privateRowsSection } from "./privateRowsSection.ts";
import { stagesSection } from "./stagesSection.ts";

/** The operators' page, complete without a script; the script keeps what is marked `data-live` as it is at the gateway. */
export const adminPage = (data: AdminPageData, now = new Date()): Html =>
  pageDocument(
    headline(data),
    html`<a class="skip" href="#stages">Skip to the stages</a>
      <div class="connection">
        <p id="connection" role="status">
          <noscript>Without a script this page shows one moment: reload it to see the next.</noscript>
        </p>
        <button type="button" id="sign-out" class="scripted" hidden>Sign out</button>
      </div>
      ${overview(data, now)} ${contents(data)}
      <main id="main" data-live>
        ${stagesSection(data, now)} ${differencesSection(data)} ${auditSection(data.audit)}
        ${clientsSection(data.clients, now)} ${ledgerSection(data.expected, now)} ${cacheSection(data.cache)}
        ${privateRowsSection(data.cache.privateRows, now)}
      </main>
      ${moveDialog()} ${expectDialog()}
      <p id="told" role="status"></p>`,
  );
