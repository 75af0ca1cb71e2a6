/** The folder of a journal on a real disk: links, deleted files, and who may write there. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileDisk } from "../../../src/journal/file-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const bytes = Buffer.from("written\n");
const isPosix = process.platform !== "win32";

describe.skipIf(!isPosix)("A folder that others may write to", () => {
  it.each([0o777, 0o770, 0o702])("with mode %o is refused with a remedy", async (mode) => {
    const folder = join(temporaryFolder(`open-${mode}`), "journal");
    mkdirSync(folder);
    chmodSync(folder, mode);
    await expect(fileDisk(folder)).rejects.toThrow(/others may write to it .* chmod 700/);
  });

  it.each([0o700, 0o755, 0o750])("is none with mode %o", async (mode) => {
    const folder = join(temporaryFolder(`own-${mode}`), "journal");
    mkdirSync(folder);
    chmodSync(folder, mode);
    await expect(fileDisk(folder)).resolves.toBeDefined();
  });
});

describe.skipIf(!isPosix)("A symbolic link in the folder", () => {
  const setUp = async (name: string) => {
    const root = temporaryFolder(name);
    const target = join(root, "precious");
    writeFileSync(target, "precious");
    const disk = await fileDisk(join(root, "journal"));
    const linkAs = (file: string): void => symlinkSync(target, join(root, "journal", file));
    return { root, disk, linkAs, left: () => readFileSync(target, "utf8") };
  };

  it("in the place of a new file is removed, and its target stays", async () => {
    const { disk, linkAs, left, root } = await setUp("link-new");
    linkAs("00000001.journal.new");
    await disk.create("00000001.journal", bytes);
    expect(left()).toBe("precious");
    expect(readFileSync(join(root, "journal", "00000001.journal"), "utf8")).toBe("written\n");
  });

  it("in the place of a file is followed by nothing", async () => {
    const { disk, linkAs, left } = await setUp("link-old");
    linkAs("00000001.journal");
    await expect(disk.open("00000001.journal")).rejects.toThrow("ELOOP");
    await expect(disk.read("00000001.journal")).rejects.toThrow("ELOOP");
    await expect(disk.truncate("00000001.journal", 1)).rejects.toThrow("ELOOP");
    expect(left()).toBe("precious");
  });
});

describe.skipIf(!isPosix)("A file that is appended to", () => {
  it.each<[string, (folder: string) => void]>([
    ["was deleted", (folder) => rmSync(join(folder, "00000001.journal"))],
    ["was deleted with its folder", (folder) => rmSync(folder, { recursive: true })],
    ["was moved with its folder", (folder) => renameSync(folder, `${folder}.away`)],
    [
      "was replaced",
      (folder) => {
        writeFileSync(join(folder, "new"), "");
        renameSync(join(folder, "new"), join(folder, "00000001.journal"));
      },
    ],
  ])("and %s is a failure of the disk", async (what, remove) => {
    const folder = join(temporaryFolder(`gone-${what.replaceAll(" ", "-")}`), "journal");
    const disk = await fileDisk(folder);
    await disk.create("00000001.journal", bytes);
    const file = await disk.open("00000001.journal");
    await file.append(bytes);
    remove(folder);
    await expect(file.append(bytes)).rejects.toThrow("was deleted or replaced while it was in use");
    await file.close();
  });

  it("and deleted during a write is a failure of the disk", async () => {
    const folder = join(temporaryFolder("gone-meanwhile"), "journal");
    const disk = await fileDisk(folder);
    await disk.create("00000001.journal", bytes);
    const file = await disk.open("00000001.journal");
    const writing = file.append(bytes);
    rmSync(join(folder, "00000001.journal"));
    await expect(writing).rejects.toThrow("was deleted or replaced while it was in use");
    await file.close();
  });

  it("of a folder that another process has taken over is not written to any more", async () => {
    const folder = join(temporaryFolder("taken-over"), "journal");
    const disk = await fileDisk(folder);
    await disk.create("00000001.journal", bytes);
    const unlock = await disk.lock("taken over / here");
    const file = await disk.open("00000001.journal");
    const [lock = ""] = (await import("node:fs")).readdirSync(folder).filter((name) => name.endsWith(".lock"));
    writeFileSync(
      join(folder, lock),
      JSON.stringify({ token: "other", host: "elsewhere", pid: 1, started: "", beats: 1 }),
    );
    await expect(file.append(bytes)).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    expect(await disk.list()).toEqual(["00000001.journal"]);
    await file.close();
    await unlock();
  });
});
